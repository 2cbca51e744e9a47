/** The page of a connection whose configuration changed: what it would write, and the button that accepts it. */
import { expect, it } from 'vitest';
import { createOperator, type Role } from '../../src/runtime/operators/operators.ts';
import { ALWAYS, handwritten, type Started } from '../connector/rules/fixture.ts';
import { LOOKS, signIn, useBrowser } from './browser.ts';
import { newVisitor, type Visitor } from './visitor.ts';

const AUTHOR = /<td data-label="Whose"><div>a person wrote it<\/div><\/td>/;

const { open } = useBrowser();

const tokenOf = async ({ app }: Started, role: Role): Promise<string> =>
  (await app.store.write((tx) => createOperator(tx, { name: `the ${role}`, role }, Date.now()))) ?? '';

async function signedIn(started: Started, role: Role): Promise<Visitor> {
  const visitor = newVisitor(started.app.adminUrl);
  await visitor.signIn(await tokenOf(started, role));
  return visitor;
}

it('shows the pending changes in both languages, and an admin accepts the version that they saw', async () => {
  const { start, names } = await handwritten('sqlite');
  const started = await start(ALWAYS);
  await started.app.connector?.drained();
  const [admin, viewer] = [await signedIn(started, 'admin'), await signedIn(started, 'viewer')];
  expect((await admin.get('/')).text).toContain('A changed configuration of hubspot waits to be accepted');
  const { text } = await admin.get('/connections/hubspot');
  expect(text).toContain('Written: 3. Replaced: 3, 3 of them written by people.');
  expect(text).toContain('Counted in 3 of 3 linked records.');
  expect(text).toContain('<code>name → name</code>');
  expect(text).toContain('Kunde 0');
  expect(text).toMatch(AUTHOR);
  const danish = (await admin.get('/connections/hubspot', { 'accept-language': 'da' })).text;
  expect(danish).toContain('Skrives: 3. Erstattes: 3, heraf 3 skrevet af mennesker.');
  expect(danish).toContain('Godkend denne konfiguration');
  const seen = /name="seen" value="([^"]+)"/.exec(text)?.[1] ?? '';

  expect((await viewer.get('/connections/hubspot')).text).not.toContain('Kunde 0');
  expect((await viewer.post('/connections/hubspot/accept', { seen })).status).toBe(403);
  expect((await admin.post('/connections/hubspot/accept', { seen: 'of another change' })).status).toBe(409);
  expect((await admin.post('/connections/none/accept', { seen })).status).toBe(404);
  expect(names()).toEqual(['Kunde 0', 'Kunde 1', 'Kunde 2']);

  expect((await admin.post('/connections/hubspot/accept', { seen })).status).toBe(303);
  await expect.poll(names, { timeout: 30_000 }).toEqual(['B ApS', 'B ApS', 'B ApS']);
  const after = await admin.get('/connections/hubspot');
  expect(after.text).not.toContain('id="proposal"');
  expect((await admin.get('/audit')).text).toContain('config.apply');
});

it('shows the count without examples if the CRM does not answer', async () => {
  const { crms, start } = await handwritten('sqlite', 1);
  const started = await start(ALWAYS);
  await started.app.connector?.drained();
  const admin = await signedIn(started, 'admin');
  crms.hubspot.fault({ match: 'batch/read', times: 99, action: { kind: 'hang' } });
  const { text } = await admin.get('/connections/hubspot');
  expect(text).toContain('Written: 1. Replaced: 1, 1 of them written by people.');
  expect(text).not.toContain('Kunde 0');
});

it('is sound in a browser in both themes and languages, and is accepted there by one click', async () => {
  const { start, names } = await handwritten('sqlite');
  const started = await start(ALWAYS);
  await started.app.connector?.drained();
  const base = started.app.adminUrl;
  const token = await tokenOf(started, 'admin');
  for (const look of LOOKS) {
    const { page, expectSound } = await open(look);
    await signIn(page, base, token);
    await page.goto(`${base}/connections/hubspot`);
    expect(await page.textContent('#proposal')).toContain('Kunde 0');
    await expectSound();
  }
  const { page } = await open({ isAudited: false });
  await signIn(page, base, token);
  await page.goto(`${base}/connections/hubspot`);
  await page.click('#proposal form button:not([hidden])');
  await expect.poll(names, { timeout: 30_000 }).toEqual(['B ApS', 'B ApS', 'B ApS']);
  await page.goto(`${base}/connections/hubspot`);
  expect(await page.locator('#proposal').count()).toBe(0);
});

it('shows versions, proposes one, and withdraws the proposal with its preview', async () => {
  const { crms, ids, start, names } = await handwritten('sqlite');
  const started = await start(ALWAYS, { rulesAcceptedBy: { kind: 'user', name: 'deploy' } });
  await started.app.connector?.drained();
  for (const [at, id] of ids.entries()) crms.hubspot.edit(id, { name: `Kunde ${at}` });
  const [admin, viewer] = [await signedIn(started, 'admin'), await signedIn(started, 'viewer')];
  const address = '/installation/configuration';
  expect((await admin.get('/installation')).text).toContain(`href="${address}"`);
  expect((await admin.get(address)).text).toContain('Nothing waits to be accepted.');
  const first = /name="version" value="(\d+)"/.exec((await admin.get(address)).text)?.[1] ?? '';
  const seen = await viewer.get(address);
  expect([seen.status, seen.text.includes('name="version"'), seen.text.includes('deploy')]).toEqual([200, false, true]);
  expect((await viewer.post(`${address}/rollback`, { version: first })).status).toBe(403);
  expect((await admin.post(`${address}/rollback`, { version: '99' })).status).toBe(404);
  expect((await admin.post(`${address}/rollback`, { version: first })).status).toBe(303);
  const proposed = async () => (await admin.get(address)).text;
  await expect.poll(proposed, { timeout: 20_000 }).toContain(`A rollback of hubspot to version ${first} waits`);
  expect(await proposed()).toContain('Written: 0.');
  expect((await admin.get('/')).text).not.toContain('waits to be accepted');
  const change = /name="seen" value="([^"]+)"/.exec(await proposed())?.[1] ?? '';
  const accepted = await admin.post('/connections/hubspot/accept', { seen: change, back: 'configuration' });
  expect([accepted.status, accepted.headers['location']]).toEqual([303, address]);
  expect(await proposed()).toContain("The file's rules of hubspot are set aside");
  expect(names()).toEqual(['Kunde 0', 'Kunde 1', 'Kunde 2']);
});
