import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { configOf } from '../../src/setup/config-of.ts';
import { draftOf } from '../../src/setup/file-draft.ts';
import { readSource } from '../../src/setup/try-source.ts';
import { newFolder } from '../support/stores.ts';

it('the set-up writes a key of Datafordeler as a file, and finds the answer in the configuration again', async () => {
  const folder = newFolder();
  const place = { file: join(folder, 'cvrsync.yaml'), samples: 'samples', admin: {}, server: {} };
  await mkdir(join(folder, 'secrets'), { recursive: true });
  await writeFile(join(folder, 'secrets/key'), 'a-key-of-datafordeler\n');
  const changes = { source: 'datafordeler', apiKey_FILE: 'secrets/key', apiKeyEnds: '2028-11-30' };
  const written = configOf({ connections: {}, source: { changes } }, place);
  expect(written).toMatchObject({ service: { register: changes } });
  expect(draftOf(written, place)?.source).toEqual({ changes });
  const { settings, problems } = readSource({ changes }, { place, env: {} });
  expect(problems).toEqual([]);
  expect(settings).toMatchObject({ source: 'datafordeler', apiKey: 'a-key-of-datafordeler' });
  const wrong = readSource({ changes: { ...changes, apiKeyEnds: 'next year' } }, { place, env: {} });
  expect(wrong.problems).toHaveLength(1);
});
