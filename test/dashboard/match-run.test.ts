/** A match that a page asks for: the daemon scans and matches, and people answer what it found. */
import { describe, expect, it } from 'vitest';
import { type IndexState, saveIndexState } from '../../src/match/index/state.ts';
import { storeEntries } from '../../src/match/index/write.ts';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import { entry } from '../match/entries.ts';
import { cvrNumber } from '../support/cvr-numbers.ts';
import { SUITE_ENGINES } from '../support/stores.ts';
import { reached, startHouse } from './backfill/house.ts';

const COMPANY = '10150817';
const READY: IndexState = { phase: 'ready', source: 'x', position: '', entries: 1, at: 1, isPartial: true };
const READS = 'POST .*batch/read';

async function scene(engine: (typeof SUITE_ENGINES)[number]) {
  const house = await startHouse({ engine });
  const { store } = house.fixture.app;
  await store.write((tx) => storeEntries(tx, [entry(COMPANY, 'Nordlys Møbler ApS', { phone: '86123456' })]));
  const ida = await house.signedIn('operator');
  await ida.get('/inbox?kind=match');
  return { ...house, store, ida };
}

describe.each(SUITE_ENGINES)('a match on %s', (engine) => {
  it('runs in the daemon, shows its progress, and leads to its results without linking', async () => {
    const { fixture, store, ida, add, links, signedIn } = await scene(engine);
    // Without an index it says what is missing.
    expect((await ida.get('/inbox?kind=match')).text).not.toContain('Find companies for hubspot');
    const failing = await ida.post('/inbox/match/run', { provider: 'hubspot' });
    await reached(ida, String(failing.headers['location']), 'there is no finished company index');
    await store.write((tx) => saveIndexState(tx, READY));
    const record = fixture.hubspot.add({ name: 'Nordlys Møbler', phone: '86123456' });
    add('hubspot', cvrNumber(1));
    expect((await ida.get('/inbox?kind=match')).text).toContain('Find companies for hubspot');
    expect((await (await signedIn('viewer')).get('/inbox?kind=match')).text).not.toContain(
      'Find companies for hubspot',
    );
    const path = String((await ida.post('/inbox/match/run', { provider: 'hubspot' })).headers['location']);
    const text = await reached(ida, path, 'To what was found');
    expect(text).toContain('Match 2 of hubspot');
    const found = (await ida.get('/inbox?kind=match')).text;
    expect(found).toContain(`Link ${COMPANY}`);
    expect(found).toContain(record);
    expect(await links('hubspot')).toEqual({});
    const entries = await readAudit(store.db, { action: 'match.run' }, 9);
    expect(entries.map(({ subject, result }) => [subject, result])).toEqual([
      ['hubspot', 'begun'],
      ['hubspot', 'begun'],
    ]);
    expect((await ida.get('/runs?task=backfill')).text).toContain('Match 2 of hubspot');
  });

  it('is cancelled between two pages, and the next one resumes there', async () => {
    const { fixture, store, ida } = await scene(engine);
    await store.write((tx) => saveIndexState(tx, READY));
    for (let at = 0; at < 150; at += 1) fixture.hubspot.add({ name: `Fremmed ${at}` });
    fixture.hubspot.fault({ match: READS, after: 1, action: { kind: 'hang' } });
    const path = String((await ida.post('/inbox/match/run', { provider: 'hubspot' })).headers['location']);
    await reached(ida, path, '100 of 150 records');
    await ida.post(`${path}/cancel`, {});
    await reached(ida, path, 'Cancelled');
    await fixture.settled();
    const scans = () => fixture.hubspot.calls.filter(({ path: at }) => /\/companies\?/u.test(at)).length;
    const before = scans();
    const next = String((await ida.post('/inbox/match/run', { provider: 'hubspot' })).headers['location']);
    await reached(ida, next, 'To what was found');
    expect(scans()).toBe(before);
    const results = await store.db.selectFrom('match_result').select('record_id').execute();
    expect(results).toHaveLength(150);
  });
});
