/** A backfill on pages, end to end: a scan, a preview, an apply, with the links and what the CRMs then hold. */
import { describe, expect, it } from 'vitest';
import { readAccount } from '../../../src/connector/crm/guard.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { reached, revisionIn, startHouse } from './house.ts';

const PROPERTY = { hubspot: 'phone', salesforce: 'Phone' } as const;
const CASES = SUITE_ENGINES.flatMap((engine) =>
  (['hubspot', 'salesforce'] as const).map((crm) => [engine, crm] as const),
);

describe.each(CASES)('on %s, the backfill of %s', (engine, crm) => {
  it('is scanned, previewed and applied: the records of the plan are linked, and events fill them', async () => {
    const { fixture, add, signedIn, scan, preview, links, audit } = await startHouse({ engine });
    const one = add(crm, 'DK 10 15 08 17');
    const [twin, other] = [add(crm, '12345674'), add(crm, '12 34 56 74')];
    add(crm, null);
    const ida = await signedIn('operator');
    await scan(ida, crm);
    expect(await links(crm)).toEqual({});
    const path = await preview(ida, crm, { trust: 'register' });
    const shown = (await ida.get(path)).text;
    expect(shown).toContain('Link 1 record');
    expect(shown).toContain(`<code>${one}</code>`);
    for (const each of [twin, other]) expect(shown).not.toContain(`<code>${each}</code>`);
    expect(shown).toContain('the register is right: it overwrites once');
    expect(await links(crm)).toEqual({});
    expect((await ida.post(`${path}/confirm`, {})).headers['location']).toBe(path);
    const done = await reached(ida, path, 'class="state ok">Done');
    expect(done).toMatch(/part=linked">[^<]*<\/a>: 1<.*part=person">[^<]*<\/a>: 2</su);
    expect(done).not.toContain('part=failed');
    expect(await links(crm)).toEqual({ [one]: 'CVR-1-10150817 number active' });
    const [link] = await fixture.app.store.db.selectFrom('link').selectAll().execute();
    expect(link?.trust).toBe('register');
    expect(await audit()).toEqual([
      'backfill.scan begun',
      'backfill.apply begun for 1 records',
      'backfill.apply done; 1 linked, 0 failed, 0 left',
    ]);
    await fixture.post({
      entityId: 'CVR-1-10150817',
      timestamp: '2026-03-01T09:00:00.000Z',
      updates: { phoneNumber: { before: '10203040', after: '20304050' } },
    });
    await fixture.settled();
    expect(fixture[crm].get(one)).toMatchObject({ [PROPERTY[crm]]: '+4520304050' });
    expect((await ida.get(`/backfill/${crm}?part=linked`)).text).toContain(`<code>${one}</code>`);
  });

  it('begins with a trial of 20 records to inspect in the CRM, then links the rest', async () => {
    const { add, signedIn, scan, preview, links, audit, fixture } = await startHouse({ engine });
    for (let at = 0; at < 22; at += 1) add(crm, cvrNumber(at + 1), `Kunde ${at}`);
    const ida = await signedIn('operator');
    await scan(ida, crm);
    expect((await ida.get(`/backfill/${crm}`)).text).toContain('Preview a trial with 20 records');
    const path = await preview(ida, crm, { trial: 'yes' });
    expect((await ida.get(path)).text).toMatch(/at most 20 records.*Link 20 records/su);
    await ida.post(`${path}/confirm`, {});
    const done = await reached(ida, path, 'Look at these records in the CRM');
    expect(Object.keys(await links(crm)).length).toBe(20);
    const account = await readAccount(fixture.app.store.db, crm);
    const isAddress =
      crm === 'hubspot' ? new RegExp(`href="https://app[^"]*/${account}/`, 'gu') : /href="https:[^"]*001/gu;
    // The emulated org has no address that a browser opens.
    expect(done.match(isAddress)?.length ?? 0).toBe(crm === 'hubspot' ? 20 : 0);
    expect(done).toMatch(/<code>[^<]+<\/code> Kunde 0</u);
    expect(done).toContain(`href="/writes?provider=${crm}"`);
    const page = (await ida.get(`/backfill/${crm}`)).text;
    expect([page.includes('Preview …'), page.includes('a trial')]).toEqual([true, false]);
    const rest = await preview(ida, crm);
    expect((await ida.get(rest)).text).toContain('Link 2 records');
    await ida.post(`${rest}/confirm`, {});
    await reached(ida, rest, 'class="state ok">Done');
    expect(Object.keys(await links(crm)).length).toBe(22);
    expect(await audit()).toEqual([
      'backfill.scan begun',
      'backfill.apply begun for 20 records',
      'backfill.apply done; 20 linked, 0 failed, 2 left',
      'backfill.apply begun for 2 records',
      'backfill.apply done; 22 linked, 0 failed, 0 left',
    ]);
  });

  it('is undone on the page of writes: each record gets its previous values, and a later edit of a person stays', async () => {
    const { fixture, add, signedIn, scan, preview } = await startHouse({ engine });
    const [kept, edited] = [add(crm, cvrNumber(1)), add(crm, cvrNumber(2))];
    for (const id of [kept, edited]) fixture[crm].edit(id, { [PROPERTY[crm]]: '+4510203040' });
    const ida = await signedIn('operator');
    await scan(ida, crm);
    await ida.post(`${await preview(ida, crm, { trust: 'register' })}/confirm`, {});
    await expect.poll(() => fixture.app.store.db.selectFrom('link').select('entity').execute()).toHaveLength(2);
    for (const number of [cvrNumber(1), cvrNumber(2)])
      await fixture.post({
        entityId: `CVR-1-${number}`,
        timestamp: '2026-03-01T09:00:00.000Z',
        updates: { phoneNumber: { before: '55667788', after: '20304050' } },
      });
    await fixture.settled();
    const phoneOf = (id: string) => fixture[crm].get(id)?.[PROPERTY[crm]];
    expect([phoneOf(kept), phoneOf(edited)]).toEqual(['+4520304050', '+4520304050']);
    fixture[crm].edit(edited, { [PROPERTY[crm]]: '+4599999999' });
    const [hour = ''] = /href="\/writes\?(since=[^"#]+)/u.exec((await ida.get('/writes')).text)?.slice(1) ?? [];
    const asked = await ida.post('/runs/undo', Object.fromEntries(new URLSearchParams(hour)));
    const path = String(asked.headers['location']);
    await reached(ida, path, 'Ready: nothing was written yet');
    await ida.post(`${path}/confirm`, {});
    await reached(ida, path, 'class="state ok">Done');
    await fixture.settled();
    expect([phoneOf(kept), phoneOf(edited)]).toEqual(['+4510203040', '+4599999999']);
  });
});

describe('an apply', () => {
  it('that ended at a limit leaves a plan, which people apply on the page', async () => {
    const { fixture, add, signedIn, preview, links } = await startHouse();
    for (let at = 0; at < 3; at++) add('hubspot', cvrNumber(at));
    expect((await fixture.cli('backfill', 'hubspot', '--yes', '--limit', '1')).stdout).toContain('2 records left');
    expect(Object.keys(await links('hubspot'))).toHaveLength(1);
    const ida = await signedIn('operator');
    await ida.get('/backfill/hubspot');
    const path = await preview(ida, 'hubspot');
    expect((await ida.get(path)).text).toContain('Link 2 records');
    await ida.post(`${path}/confirm`, {});
    await reached(ida, path, 'class="state ok">Done');
    expect(Object.keys(await links('hubspot'))).toHaveLength(3);
  });

  it('skips records that changed in the CRM since the scan, and names those that need a person', async () => {
    const { fixture, add, signedIn, scan, preview, links } = await startHouse();
    const [changed, gone, stays] = [
      add('hubspot', cvrNumber(0)),
      add('hubspot', cvrNumber(1)),
      add('hubspot', cvrNumber(2)),
    ];
    const ida = await signedIn('operator');
    await scan(ida, 'hubspot');
    const path = await preview(ida, 'hubspot');
    fixture.hubspot.edit(changed, { cvr_number: cvrNumber(7) });
    fixture.hubspot.remove(gone);
    await ida.post(`${path}/confirm`, {});
    await reached(ida, path, 'class="state ok">Done');
    expect(await links('hubspot')).toEqual({ [stays]: `CVR-1-${cvrNumber(2)} number active` });
    expect((await ida.get('/backfill/hubspot?part=person')).text).toContain(`<code>${changed}</code>`);
  });

  it.each([
    ['a new scan by command', ['backfill', 'hubspot', '--dry-run']],
    ['an apply by command', ['backfill', 'hubspot', '--yes']],
  ])('is refused if the plan changed since its preview, by %s', async (_what, command) => {
    const { fixture, add, signedIn, scan, preview, audit } = await startHouse();
    add('hubspot', '10150817');
    const ida = await signedIn('operator');
    await scan(ida, 'hubspot');
    const path = await preview(ida, 'hubspot', { trust: 'register' });
    await fixture.cli(...command);
    // The daemon synchronises what the command linked, and dates the link.
    await fixture.settled();
    const [before] = await fixture.app.store.db.selectFrom('link').selectAll().execute();
    expect((await ida.get(path)).text).toContain('the plan is another one by now');
    await ida.post(`${path}/confirm`, {});
    expect((await ida.get(path)).text).toContain('Nothing was done');
    expect(await fixture.app.store.db.selectFrom('link').selectAll().executeTakeFirst()).toEqual(before);
    expect(await audit()).toEqual(['backfill.scan begun']);
  });

  it('begins once if many people request it repeatedly', async () => {
    const { add, signedIn, scan, preview, links, audit } = await startHouse();
    const id = add('hubspot', '10150817');
    const [ida, bo] = [await signedIn('operator'), await signedIn('admin')];
    await scan(ida, 'hubspot');
    const path = await preview(ida, 'hubspot');
    await bo.get(path);
    await Promise.all([ida, bo, ida].map((each) => each.post(`${path}/confirm`, {})));
    await reached(ida, path, 'class="state ok">Done');
    await ida.post(`${path}/confirm`, {});
    await ida.post(`${path}/cancel`, {});
    expect(await links('hubspot')).toEqual({ [id]: 'CVR-1-10150817 number active' });
    expect((await audit()).filter((each) => each.startsWith('backfill.apply'))).toEqual([
      'backfill.apply begun for 1 records',
      'backfill.apply done; 1 linked, 0 failed, 0 left',
    ]);
  });

  it('needs a confirmation if many lines of the plan are doubtful', async () => {
    const { fixture, add, signedIn, scan, links } = await startHouse();
    for (let at = 0; at < 12; at++) add('hubspot', cvrNumber(at));
    const ida = await signedIn('operator');
    await scan(ida, 'hubspot');
    // As somebody would who chose all, whatever the scan said.
    await fixture.app.store.write((tx) =>
      tx.updateTable('scan').set({ verdict: 'ambiguous', action: 'link' }).execute(),
    );
    const revision = revisionIn((await ida.get('/backfill/hubspot')).text);
    const asked = await ida.post('/backfill/hubspot/apply', { revision });
    const path = String(asked.headers['location']);
    const doubtful = await reached(ida, path, '12 link what the scan advised against');
    expect(doubtful).not.toContain(`${path}/confirm`);
    await ida.post(`${path}/confirm`, {});
    const meant = String((await ida.post('/backfill/hubspot/apply', { revision, meant: 'yes' })).headers['location']);
    await reached(ida, meant, `${meant}/confirm`);
    expect(await links('hubspot')).toEqual({});
    await ida.post(`${meant}/confirm`, {});
    await reached(ida, meant, 'class="state ok">Done');
    expect(Object.keys(await links('hubspot'))).toHaveLength(12);
  });
});

describe('a scan', () => {
  it('begins once if many people request it at once', async () => {
    const { fixture, add, signedIn } = await startHouse();
    for (let at = 0; at < 3; at++) add('hubspot', cvrNumber(at));
    fixture.hubspot.fault({ match: 'GET .*/objects/.*/companies$', action: { kind: 'hang' } });
    const [ida, bo] = [await signedIn('operator'), await signedIn('operator')];
    for (const each of [ida, bo]) await each.get('/backfill/hubspot');
    const asked = await Promise.all(
      [ida, bo, ida].map((each) => each.post('/backfill/hubspot/scan', { revision: 'none' })),
    );
    const [path = '', ...others] = asked.map(({ headers }) => String(headers['location']));
    expect(others).toEqual([path, path]);
    expect((await ida.get('/backfill/hubspot')).text).toContain('It is running');
    await ida.post(`${path}/cancel`, {});
    expect((await ida.get(path)).text).toContain('Cancelled');
  });

  it('asks before it replaces a plan, and is refused if that plan was replaced meanwhile', async () => {
    const { fixture, add, signedIn, scan } = await startHouse();
    add('hubspot', '10150817');
    const ida = await signedIn('operator');
    await scan(ida, 'hubspot');
    const asks = await ida.get('/backfill/hubspot/scan');
    await fixture.cli('backfill', 'hubspot', '--dry-run');
    const began = await fixture.app.store.db
      .selectFrom('kv')
      .selectAll()
      .where('key', '=', 'backfill:hubspot')
      .execute();
    const asked = await ida.post('/backfill/hubspot/scan', { revision: revisionIn(asks.text) });
    await reached(ida, String(asked.headers['location']), 'is another one by now');
    expect(
      await fixture.app.store.db.selectFrom('kv').selectAll().where('key', '=', 'backfill:hubspot').execute(),
    ).toEqual(began);
  });
});

describe('access to a backfill', () => {
  it('lets a viewer see plan and progress, and request nothing', async () => {
    const { add, signedIn, scan, preview, links } = await startHouse();
    add('hubspot', '10150817');
    const [ida, gry] = [await signedIn('operator'), await signedIn('viewer')];
    const revision = await scan(ida, 'hubspot');
    const path = await preview(ida, 'hubspot');
    for (const shown of ['/backfill/hubspot', path])
      expect((await gry.get(shown)).text).not.toMatch(/method="post" action="\/backfill/u);
    expect((await gry.get('/backfill/hubspot/scan')).status).toBe(403);
    for (const act of ['/backfill/hubspot/scan', '/backfill/hubspot/apply', `${path}/confirm`, `${path}/cancel`])
      expect((await gry.post(act, { revision })).status, act).toBe(403);
    expect(await links('hubspot')).toEqual({});
  });

  it('answers 404 for runs of other numbers and connections that are not configured', async () => {
    const { add, signedIn } = await startHouse();
    add('hubspot', '10150817');
    const ida = await signedIn('operator');
    await ida.get('/backfill');
    for (const path of ['/backfill/dynamics/scan', '/backfill/dynamics/apply'])
      expect((await ida.post(path, { revision: 'none' })).status, path).toBe(404);
    for (const id of ['999', 'x', '-1', '1e3', '9'.repeat(40)])
      expect((await ida.get(`/runs/${id}`)).status, id).toBe(404);
  });
});
