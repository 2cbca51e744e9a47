/** The pages of the set-up when something is not as it should be, and with forms and accounts that are large. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import type { HubspotEmulatorOptions } from '../../../providers/kit/hubspot/account/options.ts';
import { startHubspotEmulator } from '../../../providers/kit/hubspot/emulator.ts';
import { startSalesforceEmulator } from '../../../providers/kit/salesforce/emulator.ts';
import { readAudit } from '../../../src/runtime/operators/audit.ts';
import { webhook } from '../../alerts/webhook.ts';
import { newVisitor, type Visitor } from '../visitor.ts';
import { startSetUpPages } from './set-up-pages.ts';

const MINUTE_MS = 60_000;
const KB = 1_000;

async function hubspotWith(options: HubspotEmulatorOptions = {}) {
  const hubspot = await startHubspotEmulator(options);
  onTestFinished(() => hubspot.close());
  return hubspot;
}

type Hubspot = Awaited<ReturnType<typeof hubspotWith>>;

/** Answers the step of the CRM; the page behind it. */
async function connect(visitor: Visitor, { settings }: Pick<Hubspot, 'settings'>): Promise<string> {
  const fields = {
    use: 'hubspot',
    's.accessToken': String(settings['accessToken']),
    's.baseUrl': String(settings['baseUrl']),
  };
  await visitor.post('/setup/crm/hubspot', fields);
  return (await visitor.get('/setup/crm/hubspot')).text;
}

describe('the entrance', () => {
  it('opens once for the code of a link, within 15 minutes, and for nobody else', async () => {
    let now = Date.parse('2026-03-01T08:00:00Z');
    const pages = await startSetUpPages({ now: () => now });
    const [ida, stranger] = [newVisitor(pages.base), newVisitor(pages.base)];
    const [used, old] = [await pages.code(), await pages.code()];
    for (const path of ['/setup/you', '/setup/crm/hubspot', '/setup/fill'])
      expect((await stranger.get(path)).headers['location'], path).toBe('/setup');
    await ida.get('/setup');
    expect((await ida.post('/setup', { code: `http://127.0.0.1:8081/setup#${used}` })).status).toBe(303);
    await stranger.get('/setup');
    for (const code of [used, 'guessed', '']) expect((await stranger.post('/setup', { code })).status).toBe(401);
    now += 15 * MINUTE_MS + 1;
    expect((await stranger.post('/setup', { code: old })).text).toContain('was used already, or is too old');
    expect((await stranger.post('/setup/you', { 's.name': 'x' })).status).toBe(401);
    expect((await ida.get('/')).headers['location']).toBe('/setup');
  });
});

describe('a CRM', () => {
  it('that hangs at any step is reported, and can be replaced', async () => {
    const hubspot = await hubspotWith({ missingProperties: ['cvr_number'] });
    hubspot.add({ name: 'Birk' });
    const visitor = await (await startSetUpPages({ patienceMs: 300 })).entered();
    await connect(visitor, hubspot);
    const shown = async (path: string) => (await visitor.get(`/setup/${path}`)).text;
    await expect.poll(() => shown('number/hubspot')).toContain('Create one property');
    // The account hangs while it makes properties: the pages say so, and nobody asks for them twice.
    hubspot.fault({ match: 'POST .*properties', times: 'always', action: { kind: 'hang' } });
    const making = await visitor.post('/setup/number/hubspot/create', {});
    expect([making.status, making.headers['location']]).toEqual([303, '/setup/number/hubspot']);
    const meanwhile = await shown('number/hubspot');
    expect(meanwhile).toMatch(/id="creation" data-live="soon".*are being created/su);
    expect(meanwhile).not.toContain('number/hubspot/create');
    expect(meanwhile).toContain('name="match"');
    expect(await shown('mapping/hubspot')).toContain('The properties are being created');
    expect((await visitor.get('/setup/source')).status).toBe(200);
    hubspot.fault({ match: '.', times: 'always', action: { kind: 'hang' } });
    // Whoever would wait for the call to be given up would read that it failed.
    expect(await connect(visitor, hubspot)).toMatch(/HubSpot has not answered for \d+ s.*Leave this for later/su);
    expect(await shown('crm/hubspot')).toContain('data-live="soon"');
    expect(await shown('number/hubspot')).toMatch(/There is no answer within 3 s: HubSpot.*Leave this for later/su);
    expect((await visitor.post('/setup/number/hubspot', { match: 'cvr_number' })).status).toBe(303);
    expect(await shown('mapping/hubspot')).toContain('There is no answer within 3 s: HubSpot');
    expect((await visitor.post('/setup/mapping/hubspot', { do: 'save' })).status).toBe(303);
    for (const step of ['source', 'fill']) expect((await visitor.get(`/setup/${step}`)).status).toBe(200);
  });

  it('whose key loses a right is reported at each step, with a link back', async () => {
    const hubspot = await hubspotWith({ missingProperties: ['cvr_number'] });
    hubspot.add({ name: 'Birk' });
    let aheadMs = 0;
    const pages = await startSetUpPages({ now: () => Date.now() + aheadMs, patienceMs: MINUTE_MS });
    const visitor = await pages.entered();
    expect(await connect(visitor, hubspot)).toContain('state ok">Read companies');
    const body = { status: 'error', category: 'MISSING_SCOPES', message: 'requires crm.schemas.companies.write' };
    hubspot.fault({ match: 'POST .*properties', times: 'always', action: { kind: 'status', status: 403, body } });
    expect((await visitor.get('/setup/number/hubspot')).text).toContain('Create one property');
    expect((await visitor.post('/setup/number/hubspot/create', {})).text).toContain('crm.schemas.companies.write');
    const entries = await readAudit(pages.store.db, { action: 'property.create', subject: 'hubspot' }, 9);
    expect(entries.map(({ result, detail, via }) => ({ result, detail, via }))).toEqual([
      { result: expect.stringMatching(/^0 created; .*write/u), detail: { properties: ['cvr_number'] }, via: 'page' },
      { result: 'begun', detail: { properties: ['cvr_number'] }, via: 'page' },
    ]);
    hubspot.fault({ match: '.', times: 'always', action: { kind: 'status', status: 401, body: {} } });
    aheadMs = MINUTE_MS;
    const number = (await visitor.get('/setup/number/hubspot')).text;
    expect(number).toContain('HubSpot');
    expect(number).toContain('href="/setup/crm/hubspot"');
    const mapping = (await visitor.get('/setup/mapping/hubspot')).text;
    expect(mapping).toContain('Look at the credentials of HubSpot');
  });

  it('whose key lacks a right links to the place where it is granted', async () => {
    const scopes = ['crm.objects.companies.read', 'crm.schemas.companies.write'];
    const hubspot = await hubspotWith({ scopes });
    const visitor = await (await startSetUpPages()).entered();
    await connect(visitor, hubspot);
    const shown = async () => (await visitor.get('/setup/crm/hubspot')).text;
    await expect.poll(shown).toMatch(/href="https:\/\/app\.hubspot\.com\/service-keys"[^>]*>Grant it here/u);
  });

  it('of 900 properties stays usable: no page exceeds 60 kB, and the number is found anywhere', async () => {
    const properties = Array.from({ length: 900 }, (_, at) => ({
      name: `own_property_of_the_account_${at}`,
      label: `Own property ${at}`,
      type: 'string' as const,
    }));
    const hubspot = await hubspotWith({ properties });
    for (const number of ['12345674', '10000009', 'DK 96437889'])
      hubspot.add({ name: 'Birk', phone: '10203040', own_property_of_the_account_300: number });
    const visitor = await (await startSetUpPages({ patienceMs: MINUTE_MS })).entered();
    await connect(visitor, hubspot);
    const number = (await visitor.get('/setup/number/hubspot')).text;
    expect(number).toMatch(/own_property_of_the_account_300<\/code>[^<]*100% of 3 values/su);
    expect(number).toMatch(/id="match-own_property_of_the_account_300"[^>]* checked/);
    const mapping = (await visitor.get('/setup/mapping/hubspot')).text;
    const found = (await visitor.get('/setup/mapping/hubspot?find=ACCOUNT_899')).text;
    expect(found).toContain('<code>own_property_of_the_account_899</code>');
    expect([Buffer.byteLength(number), Buffer.byteLength(mapping)].filter((bytes) => bytes > 60 * KB)).toEqual([]);
  });
});

describe('two people', () => {
  it('cannot use the set-up at once: the second sees who uses it since when, and may take over', async () => {
    const pages = await startSetUpPages();
    const ida = await pages.entered();
    await ida.post('/setup/you', { 's.name': 'Ida Holm' });
    const bo = await pages.entered();
    const held = await bo.get('/setup/crm');
    expect([held.status, held.text]).toEqual([409, expect.stringContaining('Ida Holm is setting cvrsync up')]);
    expect(held.text).toMatch(/<dt>Since<\/dt><dd><time/);
    expect((await bo.post('/setup/source', { 's.changes': 'sample' })).status).toBe(409);
    expect((await bo.post('/setup/take-over', {})).status).toBe(303);
    expect((await bo.get('/setup/crm')).status).toBe(200);
    expect((await ida.get('/setup/crm')).status).toBe(409);
  });
});

describe('the file', () => {
  async function ready() {
    const hubspot = await hubspotWith();
    const pages = await startSetUpPages();
    const visitor = await pages.entered();
    await connect(visitor, hubspot);
    await visitor.post('/setup/source', { 's.changes': 'sample' });
    return { ...pages, visitor };
  }

  it('is never overwritten: a version that somebody else wrote meanwhile stays, and the lines are shown', async () => {
    const { visitor, place } = await ready();
    // The sample register fills no record of a real company.
    expect((await visitor.get('/setup/fill')).text).toMatch(/invented companies alone.*href="\/setup\/source"/su);
    writeFileSync(place.file, 'store: mine.db\n');
    const { status, text } = await visitor.post('/setup/fill', {});
    expect([status, text]).toEqual([409, expect.stringContaining('cvrsync writes over no file of others')]);
    expect(text).toContain('accessToken_FILE: secrets/hubspot-accessToken');
    expect(readFileSync(place.file, 'utf8')).toBe('store: mine.db\n');
  });

  it('that cannot be written is shown, with the place to put it', async () => {
    const { visitor, place } = await ready();
    mkdirSync(`${place.file}.new`);
    const { status, text } = await visitor.post('/setup/fill', {});
    expect([status, text]).toEqual([409, expect.stringContaining('cvrsync may not write')]);
    expect(text).toContain(place.file);
    expect(existsSync(place.file)).toBe(false);
    const [, shown = ''] = /<pre[^>]*>(.*)<\/pre>/su.exec(text) ?? [];
    expect(parse(shown.replaceAll('&quot;', '"')).service.register.source).toBe('file');
  });
});

it('every page is Danish for Danes', async () => {
  const hubspot = await hubspotWith({ missingProperties: ['cvr_number'] });
  hubspot.add({ name: 'Birk', cvr_hold: true });
  const salesforce = await startSalesforceEmulator({ mayCreate: false });
  onTestFinished(() => salesforce.close());
  const visitor = await (await startSetUpPages({ patienceMs: MINUTE_MS })).entered();
  await connect(visitor, hubspot);
  const { loginUrl, auth } = salesforce.settings;
  const { clientId, clientSecret } = Object(auth);
  await visitor.post('/setup/crm/salesforce', {
    ...{ use: 'salesforce', 's.loginUrl': String(loginUrl), 's.auth': 'client-credentials' },
    ...{ 's.auth[client-credentials].clientId': clientId, 's.auth[client-credentials].clientSecret': clientSecret },
  });
  await visitor.post('/setup/source', { 's.changes': 'sample' });
  const paths = ['you', 'crm', 'crm/hubspot', 'crm/salesforce', 'number/hubspot', 'mapping/hubspot', 'source', 'fill'];
  for (const path of paths) {
    const { text } = await visitor.get(`/setup/${path}`, { 'accept-language': 'da' });
    expect(text).toContain('<html lang="da-DK"');
    // But for the way to the other language, in its own words, and the org's own name.
    const english = [...text.matchAll(/<(?!a href="\/language\/)[^>]* lang="en"[^>]*>[^<]*/gu)].flat();
    expect(
      english.filter((each) => !each.endsWith('>Emulated Org (00DQy00000Emu1AMAR)')),
      path,
    ).toEqual([]);
  }
});

it('says where the credentials are made, and asks at once for the address that Salesforce needs', async () => {
  const visitor = await (await startSetUpPages()).entered();
  const hubspot = (await visitor.get('/setup/crm/hubspot')).text;
  expect(hubspot).toContain('<a href="https://app.hubspot.com/service-keys" rel="noreferrer">');
  expect(hubspot).not.toContain('&lt;https');
  const [asked = '', folded = ''] = (await visitor.get('/setup/crm/salesforce')).text.split('<details');
  expect(asked).toContain('name="s.loginUrl"');
  expect(asked).toContain('External Client App Manager');
  expect(folded).toContain('name="s.apiVersion"');
});

it('a plugin has its form: nested, secret and chosen settings go where its schema says', async () => {
  const { entered, place } = await startSetUpPages({ patienceMs: MINUTE_MS });
  const visitor = await entered();
  const use = join(import.meta.dirname, 'own-crm.ts');
  const opened = await visitor.post('/setup/crm', { use });
  const address = String(opened.headers['location']);
  const form = (await visitor.get(address)).text;
  for (const name of [
    's.tenant',
    's.region',
    's.login.user',
    's.login.pinCode',
    's.proof',
    's.proof[signed].signingKey',
  ])
    expect(form).toContain(`name="${name}"`);
  const fields = { use, 's.tenant': 'birk', 's.region': 'us', 's.login.user': 'ida', 's.proof': 'signed' };
  const secrets = { 's.login.pinCode': 'pin-1234', 's.proof[signed].signingKey': 'signing-5678' };
  const more = { 's.pageSize': '50', 's.labels': '[a, b]', 's.isTest': 'true' };
  await visitor.post('/setup/crm/own-crm', {
    ...fields,
    ...more,
    's.proof[signed].signingKey': secrets['s.proof[signed].signingKey'],
  });
  const lacking = (await visitor.get('/setup/crm/own-crm')).text;
  expect(lacking).toMatch(/Pin code: is missing/);
  await visitor.post('/setup/crm/own-crm', { ...fields, ...more, 's.login.pinCode': secrets['s.login.pinCode'] });
  expect((await visitor.get('/setup/crm/own-crm')).text).toContain('Own CRM (7)');
  await visitor.post('/setup/source', { 's.changes': 'sample' });
  await visitor.post('/setup/fill', {});
  const text = readFileSync(place.file, 'utf8');
  expect(text).toMatch(/^# yaml-language-server: \$schema=cvrsync.schema.json\n/u);
  expect(readFileSync(join(dirname(place.file), 'cvrsync.schema.json'), 'utf8')).toContain('Name of the tenant.');
  expect(parse(text).connector.providers).toEqual({
    'own-crm': {
      use,
      tenant: 'birk',
      region: 'us',
      login: { user: 'ida', pinCode_FILE: 'secrets/own-crm-login-pinCode' },
      proof: { kind: 'signed', signingKey_FILE: 'secrets/own-crm-proof-signingKey' },
      labels: ['a', 'b'],
      isTest: true,
    },
  });
  expect(readFileSync(join(dirname(place.file), 'secrets/own-crm-login-pinCode'), 'utf8')).toBe('pin-1234\n');
});

describe('alerts', () => {
  it('are asked for in the last step, tested at once, and written into the file, with the address in one of its own', async () => {
    const hook = await webhook();
    const hubspot = await hubspotWith();
    const { entered, place, store } = await startSetUpPages();
    const visitor = await entered();
    await connect(visitor, hubspot);
    await visitor.post('/setup/source', { 's.changes': 'sample' });
    const last = (await visitor.get('/setup/fill')).text;
    expect(last).toContain('Alerts: tell me when something needs a person');
    // Whoever came by the link signs in again by a token.
    expect(last).toContain('href="/sessions"');
    expect((await visitor.get('/sessions')).text).toContain('action="/sessions/token"');
    const wrong = await visitor.post('/setup/fill/alerts', { 's.mail.to': 'nobody', do: 'test' });
    expect(wrong.status).toBe(422);
    expect(wrong.text).toMatch(/role="alert">.*<code>mail\.to/su);
    const answers = { 's.webhook': hook.url, 's.allow': '127.0.0.1' };
    const tested = (await visitor.post('/setup/fill/alerts', { ...answers, do: 'test' })).text;
    expect(tested).toContain('The test was sent by webhook.');
    expect(tested).not.toContain('a-secret-path');
    expect(hook.texts).toEqual([expect.stringContaining('This is a test')]);
    hook.state.status = 500;
    expect((await visitor.post('/setup/fill/alerts', { 's.allow': '127.0.0.1', do: 'test' })).text).toMatch(
      /not sent by webhook:.*answered 500/su,
    );
    expect((await readAudit(store.db, { action: 'alert.test' }, 9)).length).toBe(2);
    expect((await visitor.post('/setup/fill', {})).status).toBe(303);
    const written = readFileSync(place.file, 'utf8');
    expect(written).not.toContain('a-secret-path');
    const { alerts } = parse(written);
    expect(alerts).toEqual({ webhook_FILE: 'secrets/alerts-webhook', allow: ['127.0.0.1'] });
    expect(readFileSync(join(dirname(place.file), alerts.webhook_FILE), 'utf8')).toBe(`${hook.url}\n`);
  });

  it('that would reach nobody are not asked for again, and are in no file', async () => {
    const { entered, place } = await startSetUpPages();
    const visitor = await entered();
    await connect(visitor, await hubspotWith());
    await visitor.post('/setup/source', { 's.changes': 'sample' });
    await visitor.get('/setup/fill');
    const kept = await visitor.post('/setup/fill/alerts', { do: 'keep', 's.reviewOver': '7' });
    expect([kept.status, kept.headers['location']]).toEqual([303, '/setup/fill']);
    await visitor.get('/setup/fill');
    await visitor.post('/setup/fill', {});
    expect(parse(readFileSync(place.file, 'utf8')).alerts).toBeUndefined();
  });
});

it('two connections to one account are said to be one on the page of each', async () => {
  const hubspot = await hubspotWith();
  const visitor = await (await startSetUpPages()).entered();
  expect(await connect(visitor, hubspot)).not.toContain('same account');
  await visitor.post('/setup/crm', { use: 'hubspot', name: 'hubspot-again' });
  await visitor.get('/setup/crm/hubspot-again?use=hubspot');
  const { accessToken, baseUrl } = hubspot.settings;
  const fields = { use: 'hubspot', 's.accessToken': String(accessToken), 's.baseUrl': String(baseUrl) };
  await visitor.post('/setup/crm/hubspot-again', fields);
  expect((await visitor.get('/setup/crm/hubspot-again')).text).toContain('hubspot-again and hubspot are the same');
  expect((await visitor.get('/setup/crm/hubspot')).text).toContain('hubspot and hubspot-again are the same');
});
