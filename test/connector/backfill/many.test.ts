/** More records than a call takes arguments, and by night a quarter of a million: every one is judged and planned, and no two of one number are far enough apart. */
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import type { PropertyValue, Read } from '../../../providers/provider.ts';
import { ALL } from '../../support/all.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { newFolder } from '../../support/stores.ts';
import { startFixture } from './fixture.ts';

const MANY = ALL ? 250_000 : 130_000;
const PAGE = 1_000;
/** The last record but one has the number of an early one. Every tenth has none. */
const TWINS = [3, MANY - 2] as const;

const propertiesOf = (at: number): Readonly<Record<string, PropertyValue>> => ({
  name: `Opdigtet ${at} ApS`,
  cvr_number: at % 10 === 9 ? null : cvrNumber(at === TWINS[1] ? TWINS[0] : at),
});

it(`each of ${MANY} records gets a verdict in the plan`, async () => {
  const { run, outcome, note } = await startFixture({
    around: () => ({
      async scan(_properties, cursor = '0') {
        const from = Number(cursor);
        const ids = Array.from({ length: PAGE }, (_, at) => from + at);
        const records = ids.map((at) => ({ id: String(at), properties: propertiesOf(at) }));
        return { records, ...(from + PAGE < MANY && { cursor: String(from + PAGE) }) };
      },
      read: async (ids) => ids.map((id): Read => ({ kind: 'found', id, properties: propertiesOf(Number(id)) })),
    }),
  });
  const file = join(newFolder(), 'plan.csv');
  expect(await run({ mode: { kind: 'plan', file } })).toMatchObject({ ended: 'planned', scanned: MANY });
  const matched = MANY - MANY / 10 - TWINS.length;
  expect(await outcome()).toMatchObject({
    verdicts: { matched, 'no-number': MANY / 10, ambiguous: TWINS.length },
    toLink: matched,
    person: TWINS.length,
  });
  expect(await note(String(TWINS[0]))).toBe(`record ${TWINS[1]} has the same number`);
  let [lines, links] = [0, 0];
  for await (const line of createInterface(createReadStream(file))) {
    lines += 1;
    if (line.includes(';matched;link;')) links += 1;
  }
  expect([lines, links]).toEqual([MANY + 1, matched]);
});
