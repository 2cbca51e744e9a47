import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { isJsonObject } from '../../../../src/protocol/text/json.ts';
import { readDocuments } from '../../../../src/service/register/watch/read-page.ts';
import { document, TODAY } from '../documents.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

test('a page holds the content of its documents without the documents', async () => {
  const documents: WeakRef<object>[] = [];
  function* parsed(): Generator<object> {
    for (let at = 0; at < 20; at++) {
      const parts = Object.values(structuredClone(document()));
      for (const part of parts) if (isJsonObject(part)) documents.push(new WeakRef(part));
      yield { Vrvirksomhed: parts[0] };
    }
  }
  const { looks } = await readDocuments(parsed(), { today: TODAY, breathe: async () => {} });
  // A WeakRef keeps its object until the task ends that made it.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  expect(documents).toHaveLength(20);
  expect(looks).toHaveLength(20);
  // The last may still be in a register of the engine.
  expect(documents.filter((each) => each.deref() !== undefined).length).toBeLessThanOrEqual(1);
});
