/** The plan file in the browser: fetched, edited, and taken in again. */
import { describe, expect, it } from 'vitest';
import { putRun, readRun } from '../../../src/connector/backfill/rows/progress.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { HOSTILE } from '../story.ts';
import type { Visitor } from '../visitor.ts';
import { type House, reached, revisionIn, startHouse } from './house.ts';

const PATH = '/backfill/hubspot/upload';
const PLAN = '/backfill/hubspot/plan.csv';
const MB = 1_000_000;

async function send(visitor: Visitor, file: string) {
  const { text } = await visitor.get(PATH);
  return visitor.upload(PATH, { revision: revisionIn(text) }, file);
}

const rows = async ({ fixture }: House) =>
  fixture.app.store.db.selectFrom('scan').select(['record_id', 'action', 'entity']).orderBy('position').execute();

describe.each(SUITE_ENGINES)('a plan file, on %s', (engine) => {
  it('is downloaded, edited and uploaded: an apply links its records', async () => {
    const house = await startHouse({ engine });
    const { fixture, add, signedIn, scan, preview, links } = house;
    const [one, two, none] = [add('hubspot', '10150817', HOSTILE), add('hubspot', cvrNumber(1)), add('hubspot', null)];
    const ida = await signedIn('operator');
    await scan(ida, 'hubspot');
    const { text: plan } = await ida.get(PLAN);
    const lines = plan
      .split('\r\n')
      .map((line) => (line.startsWith(`${two};`) ? line.replace(';link;', ';skip;') : line))
      .map((line) => (line.startsWith(`${none};`) ? `${none};;${cvrNumber(5)};no-number;link;;` : line));
    const taken = await send(ida, lines.join('\r\n'));
    expect([taken.status, taken.headers['location']]).toEqual([303, '/backfill/hubspot']);
    expect(await rows(house)).toEqual([
      { record_id: one, action: 'link', entity: 'CVR-1-10150817' },
      { record_id: two, action: 'skip', entity: `CVR-1-${cvrNumber(1)}` },
      { record_id: none, action: 'link', entity: `CVR-1-${cvrNumber(5)}` },
    ]);
    expect(await links('hubspot')).toEqual({});
    const entry = fixture.app.store.db.selectFrom('audit').selectAll().where('action', '=', 'backfill.upload');
    expect(await entry.execute()).toMatchObject([
      { subject: 'hubspot', actor: 'operator 1', detail: '{"toLink":2,"skipped":1}', result: 'done' },
    ]);
    // What was fetched again is taken in as it is.
    const { text: again } = await ida.get(PLAN);
    expect((await send(ida, again)).status).toBe(303);
    const path = await preview(ida, 'hubspot');
    await ida.post(`${path}/confirm`, {});
    await reached(ida, path, 'class="state ok">Done');
    expect(await links('hubspot')).toEqual({
      [one]: 'CVR-1-10150817 number active',
      [none]: `CVR-1-${cvrNumber(5)} person active`,
    });
  });

  it('changes nothing if it has invalid lines, and each of them is named', async () => {
    const house = await startHouse({ engine });
    const id = house.add('hubspot', '10150817');
    const ida = await house.signedIn('operator');
    await house.scan(ida, 'hubspot');
    const before = await rows(house);
    const bad = await send(ida, `record;number;action\n${id};10150817;<b>\n4711;10150817;link\n`);
    expect(bad.status).toBe(422);
    expect(bad.text).toContain('2 lines cannot be followed');
    expect(bad.text).toContain('line 2: the action of record');
    expect(bad.text).toContain('&lt;b>');
    for (const file of ['', '\0\0\0', 'PK\u0003\u0004workbook', 'record;number\n1;2', 'x'.repeat(5_000)])
      expect((await send(ida, file)).status, file.slice(0, 9)).toBe(422);
    expect(await rows(house)).toEqual(before);
    expect(await house.audit()).toEqual(['backfill.scan begun']);
  });
});

describe('an upload', () => {
  it('accepts a file of 10 MB, and refuses a larger one with a clear message', async () => {
    const house = await startHouse();
    const ids = Array.from({ length: 100 }, (_, at) => house.add('hubspot', cvrNumber(at)));
    const ida = await house.signedIn('operator');
    await house.scan(ida, 'hubspot');
    const fileOf = (bytes: number): string => {
      const name = 'Ø'.repeat(bytes / ids.length / 2);
      return `record;number;action;name\n${ids.map((id, at) => `${id};${cvrNumber(at)};skip;${name}`).join('\n')}`;
    };
    const refused = await send(ida, fileOf(12 * MB));
    expect([refused.status, refused.text]).toEqual([413, expect.stringContaining('A file may have 10 MB')]);
    expect((await rows(house)).every(({ action }) => action === 'link')).toBe(true);
    expect((await send(ida, fileOf(10 * MB))).status).toBe(303);
    expect((await rows(house)).every(({ action }) => action === 'skip')).toBe(true);
  });

  it('does not overwrite changes that somebody else made to the plan meanwhile', async () => {
    const house = await startHouse();
    const id = house.add('hubspot', '10150817');
    const [ida, bo] = [await house.signedIn('operator'), await house.signedIn('operator')];
    await house.scan(ida, 'hubspot');
    const { text: file } = await ida.get(PLAN);
    const revision = revisionIn((await ida.get(PATH)).text);
    const row = await bo.get(`/backfill/hubspot/row?record=${id}`);
    await bo.post('/backfill/hubspot/row', { record: id, revision: revisionIn(row.text), choice: 'skip' });
    const before = await rows(house);
    const stale = await ida.upload(PATH, { revision }, file);
    expect([stale.status, stale.text]).toEqual([409, expect.stringContaining('has changed since you saw it')]);
    expect(await rows(house)).toEqual(before);
    // Asked again, with what is there now.
    expect((await ida.upload(PATH, { revision: revisionIn(stale.text) }, file)).status).toBe(303);
    expect(await rows(house)).toMatchObject([{ action: 'link' }]);
  });

  it('that was cut in the middle leaves a plan that cannot be applied before a complete upload', async () => {
    const house = await startHouse();
    const { fixture, add, signedIn, scan } = house;
    const id = add('hubspot', '10150817');
    const ida = await signedIn('operator');
    await scan(ida, 'hubspot');
    const { text: file } = await ida.get(PLAN);
    const { store } = fixture.app;
    // As a process leaves it that ended there.
    const run = await readRun(store.db, 'hubspot');
    if (run === undefined) throw new Error('there is no plan');
    await store.write((tx) => putRun(tx, 'hubspot', { ...run, phase: 'import', owner: 'gone' }, 1));
    await store.write((tx) => tx.updateTable('scan').set({ action: 'skip' }).execute());
    expect((await ida.get('/backfill/hubspot')).text).not.toContain('Preview');
    expect((await send(ida, file)).status).toBe(303);
    expect(await rows(house)).toMatchObject([{ record_id: id, action: 'link' }]);
    expect((await ida.get('/backfill/hubspot')).text).toContain('Preview');
  });

  it('is accepted from operators with a session and a form of ours, after a scan has ended', async () => {
    const house = await startHouse();
    const id = house.add('hubspot', '10150817');
    const [ida, gry] = [await house.signedIn('operator'), await house.signedIn('viewer')];
    const file = `record;number;action\n${id};10150817;skip\n`;
    await ida.get('/backfill/hubspot');
    expect((await ida.upload(PATH, { revision: 'none' }, file)).status).toBe(422);
    expect((await ida.get(PATH)).text).toContain('There is no complete plan yet');
    await house.scan(ida, 'hubspot');
    const before = await rows(house);
    const revision = revisionIn((await ida.get(PATH)).text);
    expect((await gry.get(PATH)).status).toBe(403);
    expect((await gry.upload(PATH, { revision }, file)).status).toBe(403);
    expect((await ida.upload(PATH, { revision, _form: 'guessed' }, file)).status).toBe(403);
    expect((await ida.upload('/backfill/dynamics/upload', { revision }, file)).status).toBe(404);
    expect((await ida.upload('/backfill/hubspot/scan', { revision }, file)).status).toBe(415);
    await house.fixture.app.store.write((tx) => tx.deleteFrom('session').execute());
    const ended = await ida.upload(PATH, { revision }, file);
    expect([ended.status, ended.headers['location']]).toEqual([303, `/login?next=${encodeURIComponent(PATH)}`]);
    expect(await rows(house)).toEqual(before);
  });
});
