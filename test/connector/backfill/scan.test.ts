/** What a scan makes of the records of a CRM, on both engines of the store. */
import { describe, expect, it } from 'vitest';
import { startSalesforceEmulator } from '../../../providers/kit/salesforce/emulator.ts';
import { runBackfill } from '../../../src/connector/backfill/backfill.ts';
import { BACKFILL, requestBackfill } from '../../../src/connector/backfill/plan/backfill-task.ts';
import { planRevision, readRun } from '../../../src/connector/backfill/rows/progress.ts';
import { beginRun, cancelRun } from '../../../src/runtime/runs/runs.ts';
import type { Store } from '../../../src/store/store.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { startFixture } from './fixture.ts';

const LOOK = { mode: { kind: 'look' } } as const;

describe.each(SUITE_ENGINES)('a scan on %s', (engine) => {
  it('sorts every record', async () => {
    const { add, link, run, rows, note, links, outcome } = await startFixture({ engine });
    const matched = add('DK 10 15 08 17');
    const linked = add('12345674');
    await link(linked, 'CVR-1-12345674');
    const none = add(null);
    const invalid = add('ukendt');
    const unit = add('1012345678');
    const [twin, other] = [add('20000007'), add('DK20000007')];
    const held = add('30000005', { hold: 'ja' });
    const differs = add('30000013');
    await link(differs, 'CVR-1-30000021');
    const taken = add('DK 30000021');
    expect((await run(LOOK)).ended).toBe('planned');
    expect(await rows()).toEqual({
      [matched]: 'matched link planned',
      [linked]: 'linked skip planned',
      [none]: 'no-number skip planned',
      [invalid]: 'invalid skip planned',
      [unit]: 'unit skip planned',
      [twin]: 'ambiguous skip planned',
      [other]: 'ambiguous skip planned',
      [held]: 'held skip planned',
      [differs]: 'differs skip planned',
      [taken]: 'ambiguous skip planned',
    });
    expect(await note(twin)).toBe(`record ${other} has the same number`);
    expect(await note(taken)).toBe(`record ${differs} stands for this company already`);
    expect(Object.keys(await links())).toHaveLength(2);
    expect(await outcome()).toMatchObject({ toLink: 1, linked: 0, person: 6, verdicts: { ambiguous: 3 } });
  });

  it('reads many pages, and counts repeated records once', async () => {
    const { add, run, rows } = await startFixture({
      engine,
      around: ({ scan }) => ({
        async scan(...args) {
          const page = await scan(...args);
          return { ...page, records: [...page.records, ...page.records.slice(0, 2)] };
        },
      }),
    });
    for (let at = 0; at < 250; at++) add(cvrNumber(at));
    expect(await run(LOOK)).toMatchObject({ scanned: 250 });
    expect(Object.values(await rows())).toEqual(Array.from({ length: 250 }, () => 'matched link planned'));
  });

  it('keeps the plan if its run was cancelled before the scan began', async () => {
    const { add, run, rows, store, deps } = await startFixture({ engine });
    const matched = add(cvrNumber(1));
    const planned = await run(LOOK);
    const caller = { actor: { kind: 'operator', name: 'ida' }, via: 'page' } as const;
    const revision = planRevision(planned);
    const input = { kind: 'scan', provider: 'hubspot', revision } as const;
    const id = await store.write((tx) => requestBackfill(tx, { input, ...caller }, 1));
    await store.write((tx) => beginRun(tx, BACKFILL, id, 1));
    await store.write((tx) => cancelRun(tx, BACKFILL, { id, ...caller }, 1));
    const asked = { run: id, kind: 'scan', revision, goesOn: false } as const;
    await expect(runBackfill(deps, asked, new AbortController().signal)).rejects.toThrow('the run was cancelled');
    expect(planRevision(await readRun(store.db, 'hubspot'))).toBe(revision);
    expect(await rows()).toEqual({ [matched]: 'matched link planned' });
  });

  it('starts over after a finished scan, and resumes an unfinished one', async () => {
    const { add, run, rows, emulator } = await startFixture({ engine });
    for (let at = 0; at < 150; at++) add(cvrNumber(at));
    const pages = (): number => emulator.calls.filter(({ path }) => path.includes('limit=100')).length;
    await run(LOOK);
    expect(pages()).toBe(2);
    const gone = add('40000003');
    await run(LOOK);
    emulator.remove(gone);
    await run(LOOK);
    expect([pages(), (await rows())[gone]]).toEqual([6, undefined]);
    emulator.fault({ match: 'GET .*companies', after: 1, action: { kind: 'status', status: 401, body: {} } });
    await expect(run(LOOK)).rejects.toThrow(/401|token|credentials/iu);
    await run(LOOK);
    // The second page was refused once, which is not counted: only it was asked for again.
    expect(pages()).toBe(8);
  });
});

it('reads numbers from a numeric property too, and needs no name', async () => {
  const emulator = await startSalesforceEmulator();
  const { add, run, rows } = await startFixture({ crm: 'salesforce', emulator });
  const [one, two] = [add('DK10150817'), add('30-00-00-05')];
  await run(LOOK);
  expect(await rows()).toEqual({ [one]: 'matched link planned', [two]: 'matched link planned' });
});

it('names the setting if the property of the number is missing', async () => {
  const { run } = await startFixture({ connection: { match: { property: 'cvr_nummer' } } });
  await expect(run(LOOK)).rejects.toThrow(/no property cvr_nummer.*connector\.providers\.hubspot\.match/u);
});

it('stores no verdicts after another process took over the scan', async () => {
  let calls = 0;
  const fixture = await startFixture({
    around: ({ scan }) => ({
      async scan(...args) {
        calls += 1;
        if (calls === 2) await takeOver(fixture.store);
        return scan(...args);
      },
    }),
  });
  const { add, run } = fixture;
  for (let at = 0; at < 250; at++) add(cvrNumber(at));
  await expect(run(LOOK)).rejects.toThrow('has taken over');
});

const takeOver = (store: Store): Promise<unknown> =>
  store.write((tx) =>
    tx.updateTable('kv').set({ value: '{"owner":"another"}' }).where('key', '=', 'backfill:hubspot').execute(),
  );
