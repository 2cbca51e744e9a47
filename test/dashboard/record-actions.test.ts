/** What a person may do with a company's records on its page: said before it is done, with what the CRM then holds. */
import { describe, expect, it } from 'vitest';
import { findLink } from '../../src/connector/links/links.ts';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import { serveService } from '../support/service.ts';
import { SUITE_ENGINES } from '../support/stores.ts';
import { COMPANY, HOSTILE, playStory, type Story } from './story.ts';
import type { Answer, Visitor } from './visitor.ts';

const OTHER = 'CVR-1-10150817';

const decoded = (text: string): string =>
  text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&');

/** The fields of the form that a page shows, as a browser would send them; boxes are left empty. */
const fieldsIn = ({ text }: Answer): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
      name,
      decoded(value),
    ]),
  );

/** Looks at what an action would change, and does it. */
async function act(visitor: Visitor, address: string, more: Readonly<Record<string, string>> = {}) {
  const preview = await visitor.get(address);
  const fields = { ...fieldsIn(preview), ...more };
  const path = address.replace(/\?.*/, '');
  const send = () => visitor.post(path, fields);
  return { preview, send };
}

const addressOf = (name: string, fields: Readonly<Record<string, string>>): string =>
  `/companies/${COMPANY}/${name}?${new URLSearchParams(fields)}`;

/** The register changes the phone number, once more. */
async function reportPhone({ fixture }: Story, day: number, before: string, after: string): Promise<void> {
  const timestamp = `2026-04-0${day}T09:00:00.000Z`;
  await fixture.post({ entityId: COMPANY, timestamp, updates: { phoneNumber: { before, after } } });
  await fixture.settled();
}

const auditOf = async ({ fixture }: Story) =>
  (await readAudit(fixture.app.store.db, { via: 'page' }, 10))
    .filter(({ action }) => !action.startsWith('session.'))
    .map(({ action, subject, detail, actor }) => `${actor.name}: ${action} ${subject} ${JSON.stringify(detail ?? {})}`);

describe.each(SUITE_ENGINES)('on the page of a company, on %s', (engine) => {
  it('a held property is not written by events, and is written again after the end of the hold', async () => {
    const story = await playStory({ engine });
    const { fixture, records, signedIn } = story;
    const { salesforce: record } = records;
    const ida = await signedIn('operator');
    expect((await ida.get(`/companies/${COMPANY}`)).text).toContain(
      `href="/companies/${COMPANY}/hold?provider=salesforce&amp;record=${record}"`,
    );
    const named = { provider: 'salesforce', record, property: 'Phone' };
    const hold = await act(ida, addressOf('hold', { ...named, until: '2099-12-31', reason: 'their <own> number' }));
    expect(hold.preview.text).toContain('cvrsync writes nothing there until');
    expect(hold.preview.text).toContain('2099-12-31T23:00:00.000Z');
    expect(fixture.salesforce.get(record)).toMatchObject({ Phone: '+4530405060' });
    expect([(await hold.send()).status, (await hold.send()).headers['location']]).toEqual([
      303,
      `/companies/${COMPANY}`,
    ]);
    await reportPhone(story, 1, '30405060', '51515151');
    expect(fixture.salesforce.get(record)).toMatchObject({ Phone: '+4530405060' });
    const page = (await ida.get(`/companies/${COMPANY}`)).text;
    expect(page).toContain('their &lt;own> number');
    expect(page).toContain('differs, is on hold');
    const end = await act(ida, addressOf('end', named));
    expect(end.preview.text).toContain('differs, will be written');
    expect(end.preview.text).toContain('+4551515151');
    expect([(await end.send()).status, (await end.send()).status]).toEqual([303, 303]);
    await fixture.settled();
    expect(fixture.salesforce.get(record)).toMatchObject({ Phone: '+4551515151' });
    const subject = `salesforce:${record} Phone`;
    expect(await auditOf(story)).toEqual([
      `the operator: record.clear ${subject} {"kind":"hold"}`,
      `the operator: record.hold ${subject} {"until":"2099-12-31T23:00:00.000Z","reason":"given"}`,
    ]);
  });

  it('a released edit lets the register win once, and the next edit is kept again', async () => {
    const story = await playStory({ engine });
    const { fixture, records, signedIn } = story;
    const { hubspot: record } = records;
    const ida = await signedIn('operator');
    const release = await act(
      ida,
      addressOf('release', { provider: 'hubspot', record, property: 'phone', once: 'yes' }),
    );
    expect(release.preview.text).toContain('The register wins once');
    expect(release.preview.text).toMatch(/\+4599999999[\s\S]*\+4530405060[\s\S]*differs, will be written/);
    await release.send();
    await fixture.settled();
    expect(fixture.hubspot.get(record)).toMatchObject({ phone: '+4530405060' });
    fixture.hubspot.edit(record, { phone: '+4588888888' });
    await reportPhone(story, 1, '30405060', '51515151');
    expect(fixture.hubspot.get(record)).toMatchObject({ phone: '+4588888888' });
    expect(await auditOf(story)).toEqual([`the operator: record.release hubspot:${record} phone {"once":true}`]);
  });

  it('a record is linked after it was read, and keeps its values when it is unlinked', async () => {
    const service = await serveService();
    const upstream = { baseUrl: service.url, accessKey: service.accessKey };
    const story = await playStory({ engine, upstream });
    const { fixture, signedIn } = story;
    const ida = await signedIn('operator');
    const record = fixture.hubspot.add({ name: 'Birk Øst', phone: '' });
    expect((await ida.get(`/companies/${COMPANY}/link`)).text).toContain('name="record"');
    const named = { provider: 'hubspot', record };
    const link = await act(ida, addressOf('link', { ...named, sendUpdate: 'yes' }));
    expect(link.preview.text).toContain('has the company monitored');
    expect(link.preview.text).toContain('+4530405060');
    expect(link.preview.text).toContain('differs, a person’s edit is kept');
    expect(fixture.hubspot.get(record)).toMatchObject({ name: 'Birk Øst' });
    expect([(await link.send()).status, (await link.send()).status]).toEqual([303, 303]);
    await fixture.settled();
    expect(fixture.hubspot.get(record)).toMatchObject({ name: 'Birk Øst', phone: '+4530405060' });
    const added = `add hubspot ${COMPANY} ${record} +update`;
    expect(service.changes.filter((change) => change.includes(record))).toEqual([added]);
    const unlink = await act(ida, addressOf('unlink', named));
    expect(unlink.preview.text).toContain('The values in the record stay');
    expect([(await unlink.send()).status, (await unlink.send()).status]).toEqual([303, 303]);
    await reportPhone(story, 1, '30405060', '51515151');
    expect(fixture.hubspot.get(record)).toMatchObject({ phone: '+4530405060' });
    expect(service.items('hubspot')).not.toContain(`${COMPANY} ${record}`);
    expect(await auditOf(story)).toEqual([
      `the operator: monitoring.remove hubspot ${COMPANY} ${record} {}`,
      `the operator: monitoring.add hubspot ${COMPANY} ${record} {"sendUpdate":true}`,
    ]);
  });

  it('a full update is requested once for a form that is sent twice', async () => {
    const service = await serveService();
    const story = await playStory({ engine, upstream: { baseUrl: service.url, accessKey: service.accessKey } });
    const { fixture, records, signedIn } = story;
    const ida = await signedIn('operator');
    const update = await act(ida, addressOf('update', { provider: 'hubspot', record: records.hubspot }));
    expect(update.preview.text).toContain('send the whole company now');
    expect((await update.send()).status).toBe(303);
    await fixture.settled();
    const again = await update.send();
    expect([again.status, again.text.includes('something changed since you looked')]).toEqual([409, true]);
    await fixture.settled();
    expect(service.changes.filter((change) => change.endsWith('+update'))).toEqual([
      `add hubspot ${COMPANY} ${records.hubspot} +update`,
    ]);
  });

  it('a change since the page was shown is displayed for another confirmation, and nothing is done before', async () => {
    const story = await playStory({ engine });
    const { fixture, records, signedIn } = story;
    const ida = await signedIn('operator');
    const { hubspot: record } = records;
    const named = { provider: 'hubspot', record, property: 'phone' };
    const release = await act(ida, addressOf('release', { ...named, once: 'yes' }));
    const hold = await act(ida, addressOf('hold', named));
    expect((await hold.send()).status).toBe(303);
    const late = await release.send();
    expect([late.status, late.text.includes('something changed since you looked')]).toEqual([409, true]);
    await fixture.settled();
    expect(fixture.hubspot.get(record)).toMatchObject({ phone: '+4599999999' });
    // An edit in the CRM is a change, too: nobody saw what would be overwritten.
    const again = await act(ida, addressOf('release', { ...named, once: 'yes' }));
    fixture.hubspot.edit(record, { phone: '+4577777777' });
    const shown = await again.send();
    expect([shown.status, shown.text.includes('+4577777777')]).toEqual([409, true]);
    expect((await ida.post(`/companies/${COMPANY}/release`, fieldsIn(shown))).status).toBe(303);
    await fixture.settled();
    expect(fixture.hubspot.get(record)).toMatchObject({ phone: '+4530405060' });
  });
});

describe('an action on a record', () => {
  it('warns about a number that fails the register’s check, and about a company without facts', async () => {
    const { fixture, signedIn } = await playStory();
    const ida = await signedIn('operator');
    const record = fixture.hubspot.add({ name: 'Nord ApS' });
    const linkTo = (entity: string) => ida.get(`/companies/${entity}/link?provider=hubspot&record=${record}`);
    const failing = 'the register’s check (modulus 11): is it mistyped?';
    expect((await linkTo('CVR-1-12345678')).text).toContain(failing);
    expect((await ida.get('/companies?q=12345678')).text).toContain(failing);
    const unknown = 'cvrsync has no data about a company with this number';
    expect((await linkTo(OTHER)).text).toContain(unknown);
    expect((await linkTo(COMPANY)).text).not.toMatch(/modulus 11|has no data about/u);
  });

  it('asks before it links a record with the number of another company', async () => {
    const story = await playStory({ connections: { hubspot: { match: { property: 'cvr_number' } } } });
    const { fixture, signedIn } = story;
    const ida = await signedIn('operator');
    const record = fixture.hubspot.add({ name: 'Nord ApS', cvr_number: '10150817' });
    const link = await act(ida, addressOf('link', { provider: 'hubspot', record }));
    expect(link.preview.text).toContain(`the number of another company: ${OTHER}`);
    expect((await link.send()).status).toBe(409);
    const ref = { provider: 'hubspot', recordId: record };
    expect(await findLink(fixture.app.store.db, ref)).toBeUndefined();
    const meant = await act(ida, addressOf('link', { provider: 'hubspot', record }), { consent: 'yes' });
    expect((await meant.send()).status).toBe(303);
    expect(await findLink(fixture.app.store.db, ref)).toMatchObject({ entity: COMPANY, mismatch: OTHER });
  });

  it('says why a record cannot be linked', async () => {
    const story = await playStory();
    const { fixture, records, signedIn } = story;
    const ida = await signedIn('operator');
    const pageOf = async (record: string, entity = OTHER) =>
      ida.get(`/companies/${entity}/link?${new URLSearchParams({ provider: 'hubspot', record })}`);
    const taken = await pageOf(records.hubspot);
    expect(taken.text).toMatch(/linked to another company[\s\S]*href="\/companies\/CVR-1-12345674"/);
    expect(taken.text).not.toContain('Link the record</button>');
    expect((await pageOf('9999999')).text).toContain('no record with this id');
    expect((await pageOf('https://x.example/1')).text).toContain('cannot be a record of that connection');
    expect((await pageOf(records.hubspot, COMPANY)).text).toContain('linked to this company already');
    expect((await pageOf('1', 'CVR-3-4000000001')).text).toContain('writes no data of persons');
    const free = fixture.hubspot.add({ name: 'Free' });
    fixture.hubspot.fault({ match: '', times: 99, action: { kind: 'hang' } });
    expect((await pageOf(free)).text).toContain(
      'could not be read just now, so it cannot be linked: no answer within 2.5 s',
    );
  });

  it('is allowed for operators, and only for records of the company', async () => {
    const story = await playStory();
    const { fixture, records, signedIn } = story;
    const [ida, gry] = [await signedIn('operator'), await signedIn('viewer')];
    const named = { provider: 'hubspot', record: records.hubspot, property: 'phone' };
    const page = (await gry.get(`/companies/${COMPANY}`)).text;
    expect(page).not.toMatch(/href="[^"]*\/(?:hold|unlink|link)\b/);
    expect(page).not.toContain('/writes?event=');
    for (const name of ['hold', 'release', 'end', 'update', 'link', 'unlink']) {
      expect((await gry.get(addressOf(name, named))).status, name).toBe(403);
      expect((await gry.post(`/companies/${COMPANY}/${name}`, named)).status, name).toBe(403);
      if (name === 'link') continue;
      expect((await ida.get(addressOf(name, { ...named, record: '404' }))).status, name).toBe(404);
      const elsewhere = `/companies/${OTHER}/${name}`;
      expect((await ida.post(elsewhere, { ...named, revision: 'x' })).status, name).toBe(404);
    }
    for (const wrong of [{ property: 'owner' }, { until: '2020-01-01' }, { until: 'soon' }]) {
      const answer = await ida.post(`/companies/${COMPANY}/hold`, { ...named, ...wrong });
      expect([answer.status, answer.text.includes('This cannot be done')]).toEqual([422, true]);
    }
    expect(await fixture.app.store.db.selectFrom('override').selectAll().execute()).toEqual([]);
    expect((await findLink(fixture.app.store.db, { provider: 'hubspot', recordId: records.hubspot }))?.state).toBe(
      'active',
    );
  });

  it('holds a whole record though the CRM does not answer, and says that it does not', async () => {
    const story = await playStory();
    const { fixture, records, signedIn } = story;
    const ida = await signedIn('operator');
    fixture.hubspot.fault({ match: '', times: 99, action: { kind: 'hang' } });
    const hold = await act(ida, addressOf('hold', { provider: 'hubspot', record: records.hubspot, property: '*' }));
    expect(hold.preview.text).toContain('could not be read just now');
    expect((await hold.send()).status).toBe(303);
    expect(await fixture.app.store.db.selectFrom('override').select(['kind', 'property']).execute()).toEqual([
      { kind: 'hold', property: '*' },
    ]);
    expect(await auditOf(story)).toEqual([`the operator: record.hold hubspot:${records.hubspot} {}`]);
  });
});

describe('an event of the timeline', () => {
  it('links to its writes, which can be undone there', async () => {
    const { fixture, records, signedIn } = await playStory();
    const ida = await signedIn('operator');
    const page = (await ida.get(`/companies/${COMPANY}`)).text;
    const event = /href="\/writes\?event=(\d+)"/.exec(page)?.[1] ?? '';
    const { text } = await ida.get(`/writes?event=${event}`);
    expect(text).toContain('action="/runs/undo"');
    expect(fixture.hubspot.get(records.hubspot)).toMatchObject({ name: HOSTILE });
  });

  it('of an unknown company is found by its number, to be linked', async () => {
    const { signedIn } = await playStory();
    const [ida, gry] = [await signedIn('operator'), await signedIn('viewer')];
    expect((await ida.get('/companies?q=10150817')).text).toContain(`href="/companies/${OTHER}/link"`);
    expect((await gry.get('/companies?q=10150817')).text).not.toContain('/link"');
    expect((await ida.get(`/companies/${OTHER}/link`)).status).toBe(200);
  });
});
