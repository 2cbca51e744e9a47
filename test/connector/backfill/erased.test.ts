/** A company that is erased is linked to no record, whatever a scan or a plan says of it, and does not keep the rest from it. */
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Connection } from '../../../providers/provider.ts';
import { editRow, rowRevision } from '../../../src/connector/backfill/plan/edit-row.ts';
import { rememberSkips } from '../../../src/connector/backfill/plan/skipped.ts';
import { rowsById } from '../../../src/connector/backfill/rows/scan-rows.ts';
import { putResults, storeRejections } from '../../../src/connector/match/results.ts';
import { beginErasure } from '../../../src/store/erasure/erasures.ts';
import { eraseByHand } from '../../commands/erase/by-hand.ts';
import { rowsWith } from '../../commands/whole-store.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { type Fixture, startFixture } from './fixture.ts';
import { apply, newFile, plan } from './plan-runs.ts';

const ERASED = 'CVR-1-10150817';
const OTHER = 'CVR-1-12345674';

/** Does something before each read, which comes after the scan. */
const beforeRead =
  (act: () => Promise<unknown>) =>
  (real: Connection): Partial<Connection> => ({
    async read(...args) {
      await act();
      return real.read(...args);
    },
  });

describe.each(SUITE_ENGINES)('an erased company on %s', (engine) => {
  it('is not linked if it is erased between the scan and the apply', async () => {
    const fixture: Fixture = await startFixture({
      engine,
      // As far as an erasure comes before it has gone over the rows of the scan.
      around: beforeRead(() =>
        fixture.store.write((tx) => beginErasure(tx, { entities: [ERASED], names: [] }, '{}', Date.now())),
      ),
    });
    fixture.add('10150817');
    const other = fixture.add('12345674');
    expect((await fixture.run()).ended).toBe('done');
    expect(await fixture.links()).toEqual({ [other]: `${OTHER} number crm active` });
    expect(Object.keys(await fixture.rows())).toEqual([other]);
  });

  it('is not linked if a record gets its number after the scan, and the backfill ends', async () => {
    const fixture: Fixture = await startFixture({
      engine,
      around: beforeRead(async () => fixture.emulator.edit(record, { cvr_number: '10150817' })),
    });
    const record = fixture.add('12345674');
    await eraseByHand(fixture.store, ERASED);
    expect((await fixture.run({}, AbortSignal.timeout(60_000))).ended).toBe('done');
    expect(await fixture.links()).toEqual({});
    expect(await rowsWith(fixture.store, ERASED)).toEqual([]);
  });

  it('is named as a problem of a plan that links it', async () => {
    const fixture = await startFixture({ engine });
    const record = fixture.add(null);
    await fixture.run(plan(newFile()));
    await eraseByHand(fixture.store, ERASED);
    const file = newFile();
    writeFileSync(file, `record;number;action\n${record};10150817;link\n`);
    await expect(fixture.run(apply(file))).rejects.toThrow(
      `line 2: record ${record} cannot be linked: ${ERASED} was erased`,
    );
    expect(await rowsWith(fixture.store, ERASED)).toEqual([]);
  });

  it('is not stored if a person chooses it for a row', async () => {
    const { add, run, store } = await startFixture({ engine });
    const record = add(null);
    await run(plan(newFile()));
    await eraseByHand(store, ERASED);
    const [row] = await rowsById(store.db, 'hubspot', [record]);
    const revision = row === undefined ? '' : rowRevision(row);
    const edit = { provider: 'hubspot', recordId: record, revision, entity: ERASED } as const;
    const actor = { kind: 'operator', name: 'tester' } as const;
    expect(await store.write((tx) => editRow(tx, { ...edit, actor }, 1))).toBe('erased');
    expect(await rowsWith(store, ERASED)).toEqual([]);
  });

  it('is not stored as skipped or rejected, or proposed by a match that began earlier', async () => {
    const store = await newStore(engine);
    await eraseByHand(store, ERASED);
    const [record, provider] = ['7', 'hubspot'];
    const own = { company: '10150817', name: 'Opdigtet ApS', successor: null };
    const candidate = { ...own, score: 1, weight: 1, strong: 1, ended: null, findings: [] };
    const match = { recordId: record, position: 1, confidence: 'likely', record: {}, candidates: [candidate] } as const;
    await store.write(async (tx) => {
      await rememberSkips(tx, provider, [{ record, entity: ERASED }], []);
      await storeRejections(tx, provider, [{ record, entity: ERASED }]);
      await putResults(tx, provider, [match, { ...match, candidates: [{ ...candidate, successor: '10150817' }] }]);
    });
    expect(await rowsWith(store, '10150817')).toEqual([]);
  });
});
