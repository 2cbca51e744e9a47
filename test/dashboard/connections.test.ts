/** The pages of connections. */
import { describe, expect, it } from 'vitest';
import { companyEntityId } from '../../src/protocol/entity-id.ts';
import { type Updates, writePayload } from '../../src/protocol/payload.ts';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import { cvrNumber } from '../support/cvr-numbers.ts';
import { COMPANY, HOSTILE, playStory } from './story.ts';

describe('the test of a payload', () => {
  const body = (updates: Updates, entityId = COMPANY) =>
    JSON.stringify(writePayload({ entityId, timestamp: '2026-03-03T09:00:00.000Z', updates }));
  const moved = body({
    phoneNumber: { before: '30405060', after: '40506070' },
    name: { before: HOSTILE, after: 'Birk <b>Byg</b> ApS' },
  }).replace('"updates":{', '"updates":{"nonsense":{"updated":true},');

  it('shows the writes with their rules, and fields without a property, and changes nothing', async () => {
    const { fixture, records, signedIn } = await playStory();
    const before = [fixture.hubspot.get(records.hubspot), fixture.salesforce.get(records.salesforce)];
    const history = await fixture.history(records.hubspot);
    const ida = await signedIn('operator');
    expect((await ida.get('/connections/hubspot')).text).toContain('action="/connections/hubspot/payload"');
    const { status, text } = await ida.post('/connections/hubspot/payload', { payload: moved });
    expect(status).toBe(200);
    expect(text).toContain('Birk &lt;b>Byg&lt;/b> ApS');
    expect(text).toMatch(/<code>name<\/code>[\s\S]*ours/);
    expect(text).toMatch(/<code>phone<\/code>[\s\S]*edited/);
    expect(text).toMatch(/<code>nonsense<\/code>[\s\S]*unknown/);
    expect(text).not.toContain('<b>Byg');
    await fixture.settled();
    expect([fixture.hubspot.get(records.hubspot), fixture.salesforce.get(records.salesforce)]).toEqual(before);
    expect(await fixture.history(records.hubspot)).toEqual(history);
  });

  it('begins with a received event, from the timeline of its company', async () => {
    const { signedIn } = await playStory();
    const [ida, gry] = [await signedIn('operator'), await signedIn('viewer')];
    expect((await ida.get(`/companies/${COMPANY}`)).text).toContain('href="/connections/hubspot?event=1#payload"');
    const form = async (event: string) =>
      /<textarea[^>]*>([^<]*)/u.exec((await ida.get(`/connections/hubspot?event=${event}`)).text)?.[1];
    expect(await form('1')).toContain('Birk &lt;script>alert(1)&lt;/script>'.slice(0, 5));
    expect(await form('1')).toContain(COMPANY);
    expect(await form('99')).toBe('');
    expect(await form('x')).toBe('');
    expect((await gry.get('/connections/hubspot?event=1')).text).not.toContain('<textarea');
  });

  it('refuses a bad payload with the faults, and keeps it in the form', async () => {
    const { signedIn } = await playStory();
    const ida = await signedIn('operator');
    await ida.get('/connections/hubspot');
    const bad = await ida.post('/connections/hubspot/payload', { payload: '{"entityId": "</textarea><b>"' });
    expect(bad.text).toMatch(/role="alert"/);
    expect(bad.text).toContain('&lt;/textarea>');
    expect((await ida.post('/connections/hubspot/payload', { payload: body({}, 'nobody') })).text).toMatch(/entityId/);
    const other = await ida.post('/connections/hubspot/payload', { payload: body({}, 'CVR-1-95012353') });
    expect(other.text).toContain('would write nothing here');
    expect((await ida.post('/connections/none/payload', { payload: moved })).status).toBe(404);
    const gry = await signedIn('viewer');
    expect((await gry.get('/connections/hubspot')).text).not.toContain('/payload"');
    expect((await gry.post('/connections/hubspot/payload', { payload: moved })).status).toBe(403);
  });

  it('says, like the page of the record, that it writes nothing to a record with the number of another company', async () => {
    const { fixture, records, signedIn } = await playStory({
      connections: { hubspot: { match: { property: 'cvr_number' } } },
    });
    const ida = await signedIn('operator');
    await ida.get('/connections/hubspot');
    fixture.hubspot.edit(records.hubspot, { cvr_number: cvrNumber(7) });
    const tried = await ida.post('/connections/hubspot/payload', { payload: moved });
    const page = await ida.get(`/companies/${COMPANY}`);
    for (const { text } of [tried, page]) {
      expect(text).toMatch(/Nothing is written to the record, as its number speaks against the link/);
      expect(text).toContain(`linked by hand, but the record holds the number of ${companyEntityId(cvrNumber(7))}`);
      expect(text).not.toContain('differs, will be written');
    }
  });

  it('says within three seconds that the CRM does not answer', async () => {
    const { fixture, signedIn } = await playStory();
    const ida = await signedIn('operator');
    await ida.get('/connections/hubspot');
    fixture.hubspot.fault({ match: '', times: 99, action: { kind: 'hang' } });
    const { text } = await ida.post('/connections/hubspot/payload', { payload: moved });
    expect(text).toMatch(/no answer within 2.5 s|did not answer in time/);
  });
});

describe('the page of a connection', () => {
  it('shows the account, its calls, and the findings about each mapped property', async () => {
    const { signedIn } = await playStory({ connections: { hubspot: { fields: { name: 'nowhere' } } } });
    const gry = await signedIn('viewer');
    expect((await gry.get('/connections')).text).toContain('href="/connections/hubspot"');
    const { text } = await gry.get('/connections/hubspot');
    expect(text).toMatch(/<code>nowhere<\/code>[\s\S]*the CRM has no such property/);
    expect(text).toMatch(/<code>phone<\/code>[\s\S]*fits/);
    expect(text).not.toContain('/try"');
    expect((await gry.post('/connections/hubspot/try', {})).status).toBe(403);
    expect((await gry.get('/connections/none')).status).toBe(404);
  });

  it('tests the credentials, and says within three seconds that the CRM does not answer', async () => {
    const { fixture, signedIn } = await playStory();
    const ida = await signedIn('operator');
    await ida.get('/connections/hubspot');
    expect((await ida.post('/connections/hubspot/try', {})).text).toMatch(/class="state ok">[^<]+\(\d+\)/);
    fixture.hubspot.fault({ match: '', times: 99, action: { kind: 'hang' } });
    const asked = performance.now();
    expect((await ida.post('/connections/hubspot/try', {})).text).toMatch(
      /no answer within 2.5 s|did not answer in time/,
    );
    expect(performance.now() - asked).toBeLessThan(10_000);
    const audit = await readAudit(fixture.app.store.db, { action: 'connection.try' }, 5);
    expect(audit.map(({ subject, result }) => `${subject} ${result}`)).toEqual(['hubspot failed', 'hubspot done']);
  });
});
