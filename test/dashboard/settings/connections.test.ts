/** Connections under Settings: a key that is replaced, a CRM that is added, and what keeps either from being saved. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { startHubspotEmulator } from '../../../providers/kit/hubspot/emulator.ts';
import { startSalesforceEmulator } from '../../../providers/kit/salesforce/emulator.ts';
import { checkConfig } from '../../../src/config/load.ts';
import { connectorFindings } from '../../../src/connector/check.ts';
import { readAccount } from '../../../src/connector/crm/guard.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { openClient } from '../../../src/http/outbound/client.ts';
import { companyEntityId } from '../../../src/protocol/entity-id.ts';
import { samplePayload } from '../../../src/protocol/sample/stream.ts';
import { readPending, writePending } from '../../../src/setup/pending-changes.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { postWebhook } from '../../support/fixture.ts';
import { startEdited } from './daemon.ts';

const PAGE = '/settings/crm/hubspot';

it('a key is stored in a separate file, tested beside the active one, and used once it is saved', async () => {
  const daemon = await startEdited();
  const admin = await daemon.admin();
  const { baseUrl, accessToken } = daemon.hubspot.settings;
  const secrets = join(dirname(daemon.file), 'secrets');
  const before = daemon.text();
  expect((await admin.get(PAGE)).text).not.toContain(String(accessToken));
  const wrong = { use: 'hubspot', 's.accessToken': 'pat-wrong', 's.baseUrl': String(baseUrl) };
  await admin.post(PAGE, wrong);
  expect((await admin.get(PAGE)).text).toContain('role="alert"');
  expect([daemon.text(), readdirSync(secrets).length]).toEqual([before, 1]);
  // The same key, which the CRM takes.
  await admin.post(PAGE, { ...wrong, 's.accessToken': String(accessToken) });
  const tried = await admin.get(PAGE);
  expect(tried.text).toContain('state ok">Read companies');
  expect(tried.text).not.toContain(String(accessToken));
  const [file = ''] = readdirSync(secrets);
  expect([readdirSync(secrets).length, statSync(join(secrets, file)).mode & 0o777]).toEqual([1, 0o600]);
  const saved = await admin.post('/settings/save', { next: PAGE });
  expect([saved.status, saved.headers['location']]).toEqual([303, `/settings/saved?next=${encodeURIComponent(PAGE)}`]);
  const { accessToken: literal, accessToken_FILE: named } = parse(daemon.text()).connector.providers.hubspot;
  expect([literal, named]).toEqual([undefined, `secrets/${file}`]);
  expect(readFileSync(join(secrets, file), 'utf8')).toBe(`${accessToken}\n`);
  await daemon.settled();
  const id = await daemon.addLinked('hubspot', 1, {});
  await daemon.settled();
  expect(daemon.hubspot.get(id)).toMatchObject({ name: expect.stringContaining(' ') });
  // A later key takes its place, and the file before stays: another configuration may name it.
  await admin.post(PAGE, { ...wrong, 's.accessToken': String(accessToken) });
  await admin.post('/settings/save', { next: PAGE });
  expect([existsSync(join(secrets, file)), readdirSync(secrets).length]).toEqual([true, 2]);
  await daemon.settled();
});

it('a CRM is added beside the active one, from its key and its number to its mapping', async () => {
  const daemon = await startEdited();
  const admin = await daemon.admin();
  const { loginUrl, auth } = daemon.salesforce.settings;
  const { clientId, clientSecret } = Object(auth);
  await admin.get('/settings/crm/salesforce');
  await admin.post('/settings/crm/salesforce', {
    ...{ use: 'salesforce', 's.loginUrl': String(loginUrl), 's.auth': 'client-credentials' },
    ...{ 's.auth[client-credentials].clientId': clientId, 's.auth[client-credentials].clientSecret': clientSecret },
  });
  const tried = (await admin.get('/settings/crm/salesforce')).text;
  expect(tried).toContain('href="/settings/number/salesforce"');
  expect(daemon.text()).not.toContain('salesforce');
  // Whoever only looks decides nothing: the key may be that of a sandbox.
  daemon.salesforce.add({ Name: 'Birk' });
  expect((await admin.get('/settings/mapping/salesforce')).text).toContain('Birk');
  expect(await readAccount(daemon.app.store.db, 'salesforce')).toBeUndefined();
  await admin.get('/settings/number/salesforce');
  const saved = await admin.post('/settings/number/salesforce', { match: 'CVR_Number__c' });
  expect(saved.status).toBe(303);
  const { salesforce } = parse(daemon.text()).connector.providers;
  expect(salesforce.match).toEqual({ property: 'CVR_Number__c' });
  expect(JSON.stringify(salesforce)).not.toContain(clientSecret);
  await daemon.settled();
  expect((await admin.get('/settings')).text).toContain('href="/settings/mapping/salesforce"');
  expect((await admin.get('/settings/mapping/salesforce')).status).toBe(200);
});

it('a second account of the same CRM gets a separate name, and each is written with its own key', async () => {
  const daemon = await startEdited();
  const norway = await startHubspotEmulator({ rate: 'none', portalId: 4_711, token: 'pat-na1-norway' });
  onTestFinished(() => norway.close());
  const admin = await daemon.admin();
  expect((await admin.get('/settings/crm')).text).toContain('Another account of the same CRM');
  for (const name of ['hubspot', 'salesforce', 'with space', '../x'])
    expect((await admin.post('/settings/crm', { use: 'hubspot', name })).status, name).toBe(422);
  const opened = await admin.post('/settings/crm', { use: 'hubspot', name: 'hubspot-norway' });
  const form = String(opened.headers['location']);
  expect(form).toBe('/settings/crm/hubspot-norway?use=hubspot');
  // The form asks for a key of its own.
  expect((await admin.get(form)).text).not.toContain('leave it empty to keep it');
  const { accessToken, baseUrl } = norway.settings;
  const answers = { use: 'hubspot', 's.accessToken': String(accessToken), 's.baseUrl': String(baseUrl) };
  await admin.post('/settings/crm/hubspot-norway', answers);
  const tried = (await admin.get('/settings/crm/hubspot-norway')).text;
  expect(tried).toContain('HubSpot account 4711');
  expect(tried).toContain('href="/settings/number/hubspot-norway"');
  await admin.get('/settings/number/hubspot-norway');
  const saved = await admin.post('/settings/number/hubspot-norway', { match: 'cvr_number' });
  const ways = (await admin.get(String(saved.headers['location']))).text;
  expect(ways).toContain('href="/settings/mapping/hubspot-norway"');
  expect(ways).toContain('href="/backfill/hubspot-norway"');
  const { hubspot, 'hubspot-norway': second } = parse(daemon.text()).connector.providers;
  expect([hubspot.use, second.use, second.match]).toEqual(['hubspot', 'hubspot', { property: 'cvr_number' }]);
  await daemon.settled();
  expect(daemon.app.connector?.crms.map(({ name }) => name)).toEqual(['hubspot', 'hubspot-norway']);
  const first = await daemon.addLinked('hubspot', 1, {});
  const id = norway.add({});
  const entity = companyEntityId(cvrNumber(2));
  await daemon.app.store.write((tx) =>
    linkRecord(tx, { provider: 'hubspot-norway', recordId: id, entity, sendUpdate: false, now: Date.now() }),
  );
  await postWebhook(`${daemon.app.url}/webhook`, samplePayload({ entityId: entity, seed: 3, now: Date.now() }));
  await daemon.settled();
  const [here, there] = [daemon.hubspot.get(first)?.['name'], norway.get(id)?.['name']];
  expect([typeof here, typeof there, here === there]).toEqual(['string', 'string', false]);
});

it('says in Settings, on its page and in check that a second connection leads to the same account', async () => {
  const daemon = await startEdited();
  const admin = await daemon.admin();
  const said = 'hubspot-again and hubspot are the same account';
  await admin.get('/settings/crm');
  await admin.post('/settings/crm', { use: 'hubspot', name: 'hubspot-again' });
  await admin.get('/settings/crm/hubspot-again?use=hubspot');
  const { accessToken, baseUrl } = daemon.hubspot.settings;
  const answers = { use: 'hubspot', 's.accessToken': String(accessToken), 's.baseUrl': String(baseUrl) };
  await admin.post('/settings/crm/hubspot-again', answers);
  const tried = (await admin.get('/settings/crm/hubspot-again')).text;
  expect(tried).toContain(said);
  expect(tried).toContain('keep one of them, or enter the key of the other account');
  expect((await admin.get('/settings/crm/hubspot')).text).toContain('hubspot and hubspot-again are the same account');
  await admin.get('/settings/number/hubspot-again');
  await admin.post('/settings/number/hubspot-again', { match: 'cvr_number' });
  await daemon.settled();
  const crms = daemon.app.connector?.crms ?? [];
  const { signal } = new AbortController();
  for (const { schema } of crms) await schema(signal, 0);
  expect((await admin.get('/connections/hubspot-again')).text).toContain(said);
  const client = openClient();
  onTestFinished(client.close);
  const deps = { store: daemon.app.store, http: client.http, metrics: createMetrics(), now: Date.now };
  const loaded = await checkConfig(parse(daemon.text()), daemon.file, {});
  const providers = (loaded.ok ? loaded.config.connector?.providers : undefined) ?? [];
  const config = { server: {}, webhook: { path: '/webhook', auth: [] }, providers };
  const findings = await connectorFindings(deps, config, signal);
  expect(findings.filter(({ found }) => found.includes('same account'))).toMatchObject([
    { level: 'warn', subject: 'hubspot', found: expect.stringContaining('hubspot and hubspot-again are') },
  ]);
});

it('a tested key does not pause the active account, and leaves no token when it is dropped', async () => {
  const daemon = await startEdited();
  const spent = await startHubspotEmulator({ rate: 'none', token: 'pat-na1-spent', daily: 3 });
  const org = await startSalesforceEmulator({ flow: 'refresh-token' });
  onTestFinished(async () => {
    await spent.close();
    await org.close();
  });
  const admin = await daemon.admin();
  const { accessToken, baseUrl } = spent.settings;
  await admin.get(PAGE);
  await admin.post(PAGE, { use: 'hubspot', 's.accessToken': String(accessToken), 's.baseUrl': String(baseUrl) });
  await expect.poll(async () => (await admin.get(PAGE)).text).toContain('role="alert"');
  await admin.get('/settings/number/hubspot');
  const [crm] = daemon.app.connector?.crms ?? [];
  expect(await crm?.rateLimiter.blockedUntil()).toBeUndefined();
  const { loginUrl, auth } = org.settings;
  const { clientId, clientSecret, refreshToken } = Object(auth);
  await admin.post('/settings/crm/salesforce', {
    ...{ use: 'salesforce', 's.loginUrl': String(loginUrl), 's.auth': 'refresh-token' },
    ...{ 's.auth[refresh-token].clientId': clientId, 's.auth[refresh-token].clientSecret': clientSecret },
    's.auth[refresh-token].refreshToken': refreshToken,
  });
  expect((await admin.get('/settings/crm/salesforce')).text).toContain('Emulated Org');
  const tokens = async () =>
    (await daemon.app.store.db.selectFrom('kv').select('key').where('key', 'like', 'salesforce/%').execute()).length;
  expect(await tokens()).toBe(1);
  await admin.post('/settings/discard', {});
  expect(await tokens()).toBe(0);
});

it('the property for holds stays as in the file, or absent, when the number is saved again', async () => {
  const daemon = await startEdited({
    connections: { salesforce: false, hubspot: { hold: { property: 'do_not_touch' } } },
  });
  const admin = await daemon.admin();
  const number = '/settings/number/hubspot';
  const holdOf = () => parse(daemon.text()).connector.providers.hubspot.hold;
  const page = (await admin.get(number)).text;
  expect([page.includes('<code>do_not_touch</code>'), page.includes('cvr_hold')]).toEqual([true, false]);
  await admin.post(number, { match: '' });
  expect(holdOf()).toEqual({ property: 'do_not_touch' });
  await daemon.settled();
  // Without a property nothing can be scanned: the page leads to where one is chosen.
  expect((await admin.get('/backfill/hubspot')).text).toContain(`href="${number}"`);
  writeFileSync(daemon.file, daemon.text().replace(/\n +hold:\n +property: do_not_touch/u, ''));
  await admin.get(number);
  await admin.post(number, { match: 'cvr_number' });
  expect([holdOf(), parse(daemon.text()).connector.providers.hubspot.match]).toEqual([
    undefined,
    { property: 'cvr_number' },
  ]);
  await daemon.settled();
});

it('files of secrets from other sources stay when a change is saved or dropped', async () => {
  const daemon = await startEdited();
  const admin = await daemon.admin();
  const { baseUrl, accessToken } = daemon.hubspot.settings;
  const [used, other] = ['used', 'other'].map((name) => join(dirname(daemon.file), 'secrets', name));
  mkdirSync(dirname(String(used)));
  for (const file of [used, other]) writeFileSync(String(file), `${accessToken}\n`);
  await daemon.rewritten(({ connector: { providers } }) => {
    const { accessToken: _, ...hubspot } = providers['hubspot'] ?? {};
    providers['hubspot'] = { ...hubspot, accessToken_FILE: 'secrets/used' };
  });
  await admin.get(PAGE);
  await admin.post(PAGE, { use: 'hubspot', 's.accessToken': String(accessToken), 's.baseUrl': String(baseUrl) });
  expect((await admin.post('/settings/save', { next: PAGE })).status).toBe(303);
  expect(daemon.text()).not.toContain('secrets/used');
  const { hash } = await daemon.app.store.db.selectFrom('session').select('hash').executeTakeFirstOrThrow();
  const path = ['connector', 'providers', 'hubspot', 'accessToken_FILE'];
  const changes = { seen: 'earlier', edits: [{ path, value: 'secrets/other' }] };
  await daemon.app.store.write((tx) => writePending(tx, hash, changes, Date.now()));
  await admin.post('/settings/discard', {});
  expect(await readPending(daemon.app.store.db, hash)).toBeUndefined();
  expect([used, other].map((file) => existsSync(String(file)))).toEqual([true, true]);
  await daemon.settled();
});
