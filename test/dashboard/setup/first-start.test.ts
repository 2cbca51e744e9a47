/** A first start without a configuration, in the real program: the link, the steps, and the daemon that goes on. */
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { startHubspotEmulator } from '../../../providers/kit/hubspot/emulator.ts';
import { type FirstStart, firstStart } from '../../support/first-start.ts';
import { newVisitor, type Visitor } from '../visitor.ts';

const SCOPES = ['crm.objects.companies.read', 'crm.objects.companies.write', 'crm.schemas.companies.write'];

async function hubspotWith(count: number) {
  const hubspot = await startHubspotEmulator({ scopes: SCOPES, missingProperties: ['cvr_number', 'cvr_hold'] });
  onTestFinished(() => hubspot.close());
  for (let at = 0; at < count; at += 1) hubspot.add({ name: `Firma ${at}`, phone: '+4510203040' });
  return hubspot;
}

/** A browser that came in by the link. */
async function entered({ base, code }: Pick<FirstStart, 'base' | 'code'>): Promise<Visitor> {
  const visitor = newVisitor(base);
  await visitor.get('/setup');
  const { status } = await visitor.post('/setup', { code });
  expect(status).toBe(303);
  // The page has the form token of the session.
  await visitor.get('/setup/you');
  return visitor;
}

it('leads from an empty folder to a running daemon, and keeps every answer over a restart after each step', async () => {
  const hubspot = await hubspotWith(12);
  const started = await firstStart();
  const ida = await entered(started);
  const again = () => started.restart();
  const textOf = async (path: string) => (await ida.get(path)).text;
  expect((await ida.post('/setup/you', { 's.name': 'Ida Holm' })).headers['location']).toBe('/setup/crm');
  await again();
  expect(await textOf('/setup/you')).toContain('value="Ida Holm"');
  const accessToken = String(hubspot.settings['accessToken']);
  const baseUrl = String(hubspot.settings['baseUrl']);
  await ida.get('/setup/crm/hubspot');
  const fields = { 's.accessToken': accessToken, 's.baseUrl': baseUrl, use: 'hubspot' };
  expect((await ida.post('/setup/crm/hubspot', fields)).headers['location']).toBe('/setup/crm/hubspot');
  await again();
  await expect.poll(() => textOf('/setup/crm/hubspot')).toMatch(/HubSpot account.*state ok">Write companies/su);
  const page = await textOf('/setup/crm/hubspot');
  expect(page).not.toContain(accessToken);
  expect((await ida.get('/setup/number')).headers['location']).toBe('/setup/number/hubspot');
  await expect.poll(() => textOf('/setup/number/hubspot')).toContain('12 records');
  await ida.post('/setup/number/hubspot/create', {});
  await expect.poll(() => textOf('/setup/number/hubspot')).toContain('2 properties were created');
  await again();
  await expect.poll(() => textOf('/setup/number/hubspot')).toContain('12 records');
  expect((await ida.post('/setup/number/hubspot', { match: 'cvr_number' })).headers['location']).toBe('/setup/mapping');
  await again();
  await expect.poll(() => textOf('/setup/number/hubspot')).toMatch(/id="match-cvr_number"[^>]* checked/u);
  const mapping = (await ida.get('/setup/mapping/hubspot')).text;
  expect(mapping).toContain('The register, unless a person edited it');
  const rows = [...mapping.matchAll(/<tr\b.*?<\/tr>/gsu)].flatMap(([row]) => {
    const [, field] = /name="f" value="(\w+)"/u.exec(row) ?? [];
    const [, property = ''] = /name="p"[^>]*value="(\w*)"/u.exec(row) ?? [];
    const [, policy = ''] = /name="w" value="([\w-]+)"|value="([\w-]+)" selected/u.exec(row)?.filter(Boolean) ?? [];
    return field === undefined ? [] : [{ field, property, policy }];
  });
  expect(rows.length).toBeGreaterThan(20);
  const mapped = new URLSearchParams();
  for (const { field, property, policy } of rows) {
    mapped.append('f', field);
    mapped.append('p', field === 'phone' ? '' : property);
    mapped.append('w', property === 'name' ? 'if-blank' : policy);
  }
  mapped.set('do', 'save');
  expect((await ida.postAll('/setup/mapping/hubspot', mapped)).headers['location']).toBe('/setup/source');
  await again();
  expect((await ida.get('/setup')).headers['location']).toBe('/setup/source');
  await ida.get('/setup/source');
  expect((await ida.post('/setup/source', { 's.changes': 'sample' })).headers['location']).toBe('/setup/fill');
  await again();
  expect((await ida.get('/setup/fill')).text).toContain(join(started.folder, 'cvrsync.yaml'));
  // Two pages finish it: both get the one answer.
  const finished = await Promise.all([ida.post('/setup/fill', {}), ida.post('/setup/fill', {})]);
  expect(finished.map(({ status, headers }) => [status, headers['location']])).toEqual([
    [303, '/backfill/hubspot'],
    [303, '/backfill/hubspot'],
  ]);
  expect((await ida.get('/backfill')).text).toContain('hubspot');
  // The set-up is gone, for whoever has no session above all.
  for (const path of ['/setup', '/setup/you', '/setup/crm/hubspot'])
    expect((await newVisitor(started.base).get(path)).text, path).not.toContain('setup');
  const file = join(started.folder, 'cvrsync.yaml');
  const text = readFileSync(file, 'utf8');
  expect([text.includes(accessToken), text.includes('# The property that holds the CVR number.')]).toEqual([
    false,
    true,
  ]);
  expect(parse(text).connector.providers.hubspot).toEqual({
    use: 'hubspot',
    accessToken_FILE: 'secrets/hubspot-accessToken',
    baseUrl,
    match: { property: 'cvr_number' },
    hold: { property: 'cvr_hold' },
    fields: { name: [{ property: 'name', policy: 'if-blank' }, 'cvr_name'], phone: false },
  });
  expect(statSync(join(started.folder, 'secrets/hubspot-accessToken')).mode & 0o777).toBe(0o600);
  expect(statSync(join(started.folder, 'secrets')).mode & 0o777).toBe(0o700);
  expect(started.log.join('\n')).not.toContain(started.code);
});

it('returns with the reason if the daemon cannot start, and starts once that is repaired; SIGHUP prints another link', async () => {
  const hubspot = await hubspotWith(0);
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = Object(taken.address());
  const started = await firstStart({ CVRSYNC_SERVER_PORT: String(port) });
  const [first, second] = [started.code, new URL(await started.hangUp()).hash.slice(1)];
  expect(first).not.toBe(second);
  const ida = await entered({ base: started.base, code: second });
  expect((await ida.get('/ready')).status).toBe(503);
  const { accessToken, baseUrl } = hubspot.settings;
  await ida.post('/setup/crm/hubspot', { 's.accessToken': String(accessToken), 's.baseUrl': String(baseUrl) });
  await ida.post('/setup/source', { 's.changes': 'sample' });
  const refused = await ida.post('/setup/fill', {});
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining(String(port))]);
  await new Promise((resolve) => taken.close(resolve));
  expect((await ida.post('/setup/fill', {})).headers['location']).toBe('/backfill/hubspot');
  expect((await ida.get('/backfill')).status).toBe(200);
});
