/** Alerts, the weekly digest and operators under Settings. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { readAudit } from '../../../src/runtime/operators/audit.ts';
import { webhook } from '../../alerts/webhook.ts';
import { startMailServer } from '../../service/mail/mail-server.ts';
import { startEdited } from './daemon.ts';

const PAGE = '/settings/alerts';

it('addresses and the digest are saved in the configuration, webhook and mail server in separate files', async () => {
  const daemon = await startEdited();
  const admin = await daemon.admin();
  await admin.get(PAGE);
  const hook = 'https://hooks.example/T0/secret';
  const url = 'smtp://cvrsync:pw-1234@mail.example:587';
  const sent = await admin.post(PAGE, {
    ...{ 's.webhook': hook, 's.mail.to': 'ida@example.com\nbo@example.com', 's.mail.url': url },
    ...{ 's.mail.from': 'cvrsync@example.com', 's.reviewOver': '50' },
  });
  expect(sent.status).toBe(303);
  const folder = dirname(daemon.file);
  const { alerts } = parse(daemon.text());
  expect(alerts).toMatchObject({
    ...{ reviewOver: 50, mail: { to: ['ida@example.com', 'bo@example.com'], from: 'cvrsync@example.com' } },
  });
  expect(readFileSync(join(folder, alerts.webhook_FILE), 'utf8')).toBe(`${hook}\n`);
  expect(readFileSync(join(folder, alerts.mail.url_FILE), 'utf8')).toBe(`${url}\n`);
  await daemon.settled();
  const page = (await admin.get(PAGE)).text;
  expect([page.includes('pw-1234'), page.includes('T0/secret'), page.includes('ida@example.com')]).toEqual([
    false,
    false,
    true,
  ]);
  await admin.post(`${PAGE}/digest`, { isOn: 'yes', 's.day': 'friday', 's.hour': '9', 's.language': 'da' });
  expect(parse(daemon.text()).alerts).toMatchObject({ ...alerts, digest: { day: 'friday', hour: 9, language: 'da' } });
  await admin.get(PAGE);
  await admin.post(`${PAGE}/digest`, { 's.day': 'friday' });
  expect(parse(daemon.text()).alerts).toEqual(alerts);
  await admin.get(PAGE);
  const refused = await admin.post(PAGE, { 's.webhook': '', 's.mail.to': 'nobody' });
  expect([refused.status, parse(daemon.text()).alerts]).toEqual([422, alerts]);
  await admin.post('/settings/discard', {});
  expect(readdirSync(join(folder, 'secrets')).length).toBe(2);
  await daemon.settled();
});

it('an operator is created with a token that is shown once, and revoked after a confirmation', async () => {
  const daemon = await startEdited();
  const admin = await daemon.admin();
  await admin.get('/settings/operators');
  const made = await admin.post('/settings/operators', { name: 'Bo', role: 'viewer' });
  expect(made.text).toContain('The operator Bo is there');
  expect((await admin.get('/settings/operators')).text).toContain('href="/settings/operators/Bo/revoke"');
  expect((await admin.get('/settings/operators/Bo/revoke')).text).toContain('every session of theirs ends');
  expect((await admin.post('/settings/operators/Bo/revoke', {})).status).toBe(303);
  expect((await admin.get('/settings/operators')).text).toContain('revoked');
});

it('a test alert and the digest are sent from the page by the active mail server', async () => {
  const office = await startMailServer();
  const daemon = await startEdited();
  const admin = await daemon.admin();
  expect((await admin.get(PAGE)).text).toContain('a test can be sent here');
  const mail = { 's.mail.to': 'ida@example.com', 's.mail.url': office.url, 's.mail.from': 'cvrsync@example.com' };
  expect((await admin.post(PAGE, mail)).status).toBe(303);
  await daemon.settled();
  expect((await admin.get(PAGE)).text).toContain('Send a test by mail');
  expect((await admin.post(`${PAGE}/test`, { channel: 'mail' })).text).toContain('The test was sent by mail.');
  await admin.get(PAGE);
  expect((await admin.post(`${PAGE}/test`, { channel: 'mail', digest: 'yes' })).text).toContain('was sent by mail');
  expect(office.mails.map(({ text }) => text.includes('This is a test'))).toEqual([true, false]);
  await office.close();
  await admin.get(PAGE);
  expect((await admin.post(`${PAGE}/test`, { channel: 'mail' })).text).toContain('The test was not sent by mail:');
});

it('a test and the digest are sent to a real webhook; its answer, or a refused connection, is shown without its path', async () => {
  const hook = await webhook();
  const daemon = await startEdited();
  const admin = await daemon.admin();
  await admin.get(PAGE);
  const send = async (fields: Readonly<Record<string, string>> = {}): Promise<string> => {
    await admin.get(PAGE);
    return (await admin.post(`${PAGE}/test`, { channel: 'webhook', ...fields })).text;
  };
  // A private address is called only if somebody allows it.
  expect((await admin.post(PAGE, { 's.webhook': hook.url })).status).toBe(303);
  await daemon.settled();
  expect(await send()).toMatch(/not sent by webhook:.*add it to alerts\.allow/su);
  expect(hook.texts).toEqual([]);
  await admin.get(PAGE);
  expect((await admin.post(PAGE, { 's.allow': '127.0.0.1' })).status).toBe(303);
  await daemon.settled();
  const page = (await admin.get(PAGE)).text;
  expect(page).toContain('Send a test by webhook');
  expect(page).not.toContain('a-secret-path');
  expect(await send()).toContain('The test was sent by webhook.');
  expect(await send({ digest: 'yes' })).toContain('The test was sent by webhook.');
  expect(hook.texts).toEqual([expect.stringContaining('This is a test'), expect.stringContaining('•')]);
  for (const [status, said] of [
    [500, 'answered 500'],
    [302, 'a redirect'],
    [404, 'answered 404'],
  ] as const) {
    hook.state.status = status;
    hook.state.location = status === 302 ? hook.url : '';
    const text = await send();
    expect(text).toMatch(/The test was not sent by webhook:/u);
    expect(text).toContain(said);
    expect(text).not.toContain('a-secret-path');
  }
  expect(hook.texts.length).toBe(2);
  await hook.close();
  const silent = await send();
  expect(silent).toContain('nothing listens');
  expect(silent).not.toContain('a-secret-path');
  const entries = (await readAudit(daemon.app.store.db, { action: 'alert.test' }, 9)).map(({ result }) => result);
  expect(entries.length).toBe(7);
  expect(entries.join()).not.toContain('a-secret-path');
});
