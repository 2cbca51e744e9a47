/** Rows of a plan edited on pages: what is then linked, and that nobody overwrites somebody else. */
import { describe, expect, it } from 'vitest';
import { putResults } from '../../../src/connector/match/results.ts';
import { IDLE_MS } from '../../../src/runtime/operators/sessions.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { HOSTILE } from '../story.ts';
import type { Visitor } from '../visitor.ts';
import { type House, reached, revisionIn, startHouse } from './house.ts';

const OTHER = cvrNumber(9);

/** What the page of a row says that it is, to be sent with an edit. */
async function seen(visitor: Visitor, record: string): Promise<Readonly<Record<string, string>>> {
  const { text } = await visitor.get(`/backfill/hubspot/row?record=${record}`);
  return { record, revision: /name="revision" value="([^"]+)"/.exec(text)?.[1] ?? 'no revision' };
}

const save = (visitor: Visitor, fields: Readonly<Record<string, string>>) =>
  visitor.post('/backfill/hubspot/row', fields);

async function apply({ preview }: House, visitor: Visitor): Promise<void> {
  const path = await preview(visitor, 'hubspot');
  await visitor.post(`${path}/confirm`, {});
  await reached(visitor, path, 'class="state ok">Done');
}

const row = async ({ fixture }: House, id: string) =>
  fixture.app.store.db.selectFrom('scan').selectAll().where('record_id', '=', id).executeTakeFirst();

describe.each(SUITE_ENGINES)('a row, on %s', (engine) => {
  it('is linked, skipped, or given another company; an apply does so, and the next scan skips it again', async () => {
    const house = await startHouse({ engine });
    const { fixture, add, signedIn, scan, links } = house;
    const [first, twin] = [add('hubspot', '12345674', HOSTILE), add('hubspot', '12 34 56 74')];
    const [skipped, other] = [add('hubspot', cvrNumber(1)), add('hubspot', 'ukendt')];
    const ida = await signedIn('operator');
    await scan(ida, 'hubspot');
    const page = (await ida.get(`/backfill/hubspot/row?record=${first}`)).text;
    expect(page).toContain('Birk &lt;script>alert(1)&lt;/script>');
    expect(page).toContain(`record=${twin}`);

    const linked = await save(ida, { ...(await seen(ida, first)), choice: '12345674', part: 'person', q: 'Birk' });
    expect([linked.status, linked.headers['location']]).toEqual([303, '/backfill/hubspot?part=person&q=Birk']);
    await save(ida, { ...(await seen(ida, skipped)), choice: 'skip' });
    await save(ida, { ...(await seen(ida, other)), choice: 'other', other: `DK ${OTHER}` });
    expect(await links('hubspot')).toEqual({});
    const [audited] = await fixture.app.store.db
      .selectFrom('audit')
      .selectAll()
      .where('action', '=', 'backfill.edit')
      .orderBy('id', 'desc')
      .execute();
    expect(audited).toMatchObject({ subject: `hubspot:${other}`, actor: 'operator 1', via: 'page' });
    expect(JSON.parse(audited?.detail ?? '')).toEqual({ before: null, after: `CVR-1-${OTHER}` });

    await apply(house, ida);
    expect(await links('hubspot')).toEqual({
      [first]: 'CVR-1-12345674 number active',
      [other]: `CVR-1-${OTHER} person active`,
    });
    expect(fixture.hubspot.get(other)).toMatchObject({ cvr_number: 'ukendt' });
    expect((await ida.get(`/backfill/hubspot/row?record=${first}`)).text).toContain('The plan has linked it');
    await scan(ida, 'hubspot');
    expect(await row(house, skipped)).toMatchObject({ verdict: 'matched', action: 'skip' });
  });

  it('is skipped with all rows of a filter, also by the next scan; the others are linked', async () => {
    const house = await startHouse({ engine });
    const { add, signedIn, scan, audit, links } = house;
    const [keep, first, second] = [
      add('hubspot', cvrNumber(1), 'Nordlys'),
      add('hubspot', cvrNumber(2), 'Test 1'),
      add('hubspot', cvrNumber(3), 'test 2'),
    ];
    const [ida, bo] = [await signedIn('operator'), await signedIn('operator')];
    await scan(ida, 'hubspot');
    expect((await ida.get('/backfill/hubspot?q=test')).text).toContain('href="/backfill/hubspot/skip?q=test"');
    const asked = await ida.get('/backfill/hubspot/skip?q=test');
    expect(asked.text).toContain('Skip 2 records');
    // Somebody else's edit in between.
    await save(bo, { ...(await seen(bo, first)), choice: 'skip' });
    const form = { q: 'test', revision: revisionIn(asked.text) };
    const stale = await ida.post('/backfill/hubspot/skip', form);
    expect([stale.status, stale.text]).toEqual([409, expect.stringContaining('Skip 1 record')]);
    const done = await ida.post('/backfill/hubspot/skip', { ...form, revision: revisionIn(stale.text) });
    expect(done.headers['location']).toBe('/backfill/hubspot?q=test');
    expect((await ida.post('/backfill/hubspot/skip', { ...form, revision: revisionIn(stale.text) })).status).toBe(409);
    expect((await ida.get('/backfill/hubspot?part=link')).text).toContain(`<code>${keep}</code>`);
    expect((await ida.get('/backfill/hubspot?part=link')).text).not.toContain(`<code>${second}</code>`);
    expect(await audit()).toContain('backfill.skip-all skipped 1 records');
    await scan(ida, 'hubspot');
    await apply(house, ida);
    expect(Object.keys(await links('hubspot'))).toEqual([keep]);
    expect((await ida.get('/backfill/hubspot?part=skip')).text).toContain(`<code>${second}</code>`);
    const gry = await signedIn('viewer');
    expect((await gry.get('/backfill/hubspot?q=test')).text).not.toContain('/skip?');
    expect((await gry.post('/backfill/hubspot/skip', form)).status).toBe(403);
  });

  it('that somebody else changed meanwhile is shown with its current state for another answer', async () => {
    const house = await startHouse({ engine });
    const { add, signedIn, scan, preview, links } = house;
    const id = add('hubspot', '10150817');
    const [ida, bo] = [await signedIn('operator'), await signedIn('operator')];
    await scan(ida, 'hubspot');
    const previewed = await preview(bo, 'hubspot');
    const [idas, bos] = [await seen(ida, id), await seen(bo, id)];
    expect((await save(ida, { ...idas, choice: 'skip' })).status).toBe(303);
    const stale = await save(bo, { ...bos, choice: 'other', other: OTHER });
    expect(stale.status).toBe(409);
    expect(stale.text).toContain('the row changed since you saw it');
    expect(stale.text).toContain(`value="${OTHER}"`);
    expect(await row(house, id)).toMatchObject({ action: 'skip', entity: 'CVR-1-10150817', version: 1 });
    // A form that was sent twice acts once.
    expect((await save(ida, { ...idas, choice: 'skip' })).status).toBe(303);
    expect(await row(house, id)).toMatchObject({ version: 1 });
    // What was previewed is not applied any more.
    await bo.post(`${previewed}/confirm`, {});
    expect((await bo.get(previewed)).text).toContain('the plan is another one by now');
    expect(await links('hubspot')).toEqual({});
    const again = /name="revision" value="([^"]+)"/.exec(stale.text)?.[1] ?? '';
    expect((await save(bo, { record: id, revision: again, choice: 'other', other: OTHER })).status).toBe(303);
    expect(await row(house, id)).toMatchObject({ action: 'link', entity: `CVR-1-${OTHER}`, version: 2 });
    // With its own number again.
    await save(ida, { ...(await seen(ida, id)), choice: 'skip' });
    expect(await row(house, id)).toMatchObject({ action: 'skip', entity: 'CVR-1-10150817', detail: null });
  });
});

describe('an edit', () => {
  it.each(['', '1234', '12345678', 'x'.repeat(300), "' or 1=1"])(
    'with the number "%s" is refused, and what was typed is kept',
    async (typed) => {
      const house = await startHouse();
      const id = house.add('hubspot', '10150817');
      const ida = await house.signedIn('operator');
      await house.scan(ida, 'hubspot');
      const before = await row(house, id);
      const refused = await save(ida, { ...(await seen(ida, id)), choice: 'other', other: typed });
      expect(refused.status).toBe(422);
      expect(refused.text).toContain('is not a CVR number');
      expect(refused.text).toMatch(/value="other" checked/u);
      expect((await save(ida, { ...(await seen(ida, id)), choice: 'all' })).status).toBe(422);
      expect(await row(house, id)).toEqual(before);
    },
  );

  it('is refused for viewers, for records that were not scanned, and for unknown connections', async () => {
    const house = await startHouse();
    const id = house.add('hubspot', '10150817');
    const [ida, gry] = [await house.signedIn('operator'), await house.signedIn('viewer')];
    await house.scan(ida, 'hubspot');
    const before = await row(house, id);
    const fields = await seen(ida, id);
    const shown = await gry.get(`/backfill/hubspot/row?record=${id}`);
    expect(shown.text).toContain('10150817');
    expect(shown.text).not.toContain('action="/backfill');
    expect((await gry.get('/backfill/hubspot')).text).not.toContain('/row');
    expect((await save(gry, { ...fields, choice: 'skip' })).status).toBe(403);
    // Of another connection.
    for (const name of ['salesforce', 'dynamics']) {
      expect((await ida.get(`/backfill/${name}/row?record=${id}`)).status).toBe(404);
      expect((await ida.post(`/backfill/${name}/row`, { ...fields, choice: 'skip' })).status).toBe(404);
    }
    for (const record of ['', '999', '%27', '<b>'])
      expect((await save(ida, { ...fields, record, choice: 'skip' })).status, record).toBe(404);
    expect(await row(house, id)).toEqual(before);
  });

  it('offers the companies that a match found for the record', async () => {
    const house = await startHouse();
    const { fixture, add, signedIn, scan, links } = house;
    const id = add('hubspot', null, 'Birk Byg');
    const ida = await signedIn('operator');
    await scan(ida, 'hubspot');
    const found = { score: 80, weight: 80, findings: [], strong: 2, ended: null, successor: null };
    const candidate = { company: OTHER, name: '<i>Birk</i> Byg ApS', ...found };
    const match = { recordId: id, position: 1, confidence: 'likely', record: { name: 'Birk Byg' } } as const;
    await fixture.app.store.write((tx) => putResults(tx, 'hubspot', [{ ...match, candidates: [candidate] }]));
    const { text } = await ida.get(`/backfill/hubspot/row?record=${id}`);
    expect(text).toContain(`Link it to ${OTHER} &lt;i>Birk&lt;/i> Byg ApS`);
    expect((await save(ida, { ...(await seen(ida, id)), choice: OTHER })).status).toBe(303);
    await apply(house, ida);
    expect(await links('hubspot')).toEqual({ [id]: `CVR-1-${OTHER} person active` });
  });

  it('waits while a scan goes on', async () => {
    const house = await startHouse();
    const { fixture, signedIn, scan } = house;
    const id = house.add('hubspot', '10150817');
    const ida = await signedIn('operator');
    const revision = await scan(ida, 'hubspot');
    const fields = await seen(ida, id);
    fixture.hubspot.fault({ match: 'GET .*/objects/.*/companies$', action: { kind: 'hang' } });
    const path = String((await ida.post('/backfill/hubspot/scan', { revision })).headers['location']);
    const refused = await save(ida, { ...fields, choice: 'skip' });
    // The scan may have forgotten the row by then.
    expect([404, 409]).toContain(refused.status);
    expect(refused.text).not.toContain('Save in the plan');
    expect((await row(house, id))?.version ?? 0).toBe(0);
    await ida.post(`${path}/cancel`, {});
  });

  it('survives the end of its session: after a sign-in it is shown, and done on confirmation', async () => {
    const house = await startHouse();
    const { fixture, add, token, scan, signedIn } = house;
    const id = add('hubspot', '10150817');
    const ida = await signedIn('operator');
    await scan(ida, 'hubspot');
    const fields = await seen(ida, id);
    await fixture.app.store.write((tx) =>
      tx
        .updateTable('session')
        .set({ seen_at: Date.now() - IDLE_MS - 1 })
        .execute(),
    );
    const asked = await save(ida, { ...fields, choice: 'other', other: OTHER });
    expect(asked.status).toBe(401);
    const kept = /name="kept" value="([^"]*)"/.exec(asked.text)?.[1]?.replaceAll('&quot;', '"') ?? '';
    const shown = await ida.post('/login', { token: await token('operator'), next: '/backfill/hubspot/row', kept });
    expect(shown.text).toContain(OTHER);
    expect(await row(house, id)).toMatchObject({ entity: 'CVR-1-10150817' });
    expect((await save(ida, { ...fields, choice: 'other', other: OTHER })).status).toBe(303);
    expect(await row(house, id)).toMatchObject({ action: 'link', entity: `CVR-1-${OTHER}` });
  });
});
