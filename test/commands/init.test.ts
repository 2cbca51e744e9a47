/** `init`: the questions of the set-up in a terminal, by options, and from a pipe; it writes what the pages write. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { startHubspotEmulator } from '../../providers/kit/hubspot/emulator.ts';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import { STORE } from '../../src/setup/config-of.ts';
import { openStore } from '../../src/store/engines/open.ts';
import { webhook } from '../alerts/webhook.ts';
import { startMailServer } from '../service/mail/mail-server.ts';
import { ENTRY, ENVIRONMENT } from '../support/program.ts';
import { newFolder } from '../support/stores.ts';

async function hubspotWith() {
  const scopes = ['crm.objects.companies.read', 'crm.objects.companies.write', 'crm.schemas.companies.write'];
  const hubspot = await startHubspotEmulator({ scopes, missingProperties: ['cvr_number', 'cvr_hold'] });
  onTestFinished(() => hubspot.close());
  hubspot.add({ name: 'Birk ApS' });
  return { token: String(hubspot.settings['accessToken']), baseUrl: String(hubspot.settings['baseUrl']) };
}

/** Runs the program in a folder, with these lines in its pipe. */
async function run(folder: string, argv: readonly string[], typed = '') {
  const child = spawn(process.execPath, [ENTRY, ...argv], { cwd: folder, env: ENVIRONMENT });
  child.stdin.end(typed);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code: child.exitCode, stdout, stderr };
}

describe('init', () => {
  it('takes answers from options, tests them, creates missing properties, and writes the file once', async () => {
    const { token, baseUrl } = await hubspotWith();
    const folder = newFolder();
    writeFileSync(join(folder, 'token.txt'), `${token}\n`);
    const answers = [
      'name=Ida Holm',
      'timeZone=Atlantic/Faroe',
      'crm=hubspot',
      'hubspot.accessToken=@token.txt',
      `hubspot.baseUrl=${baseUrl}`,
    ];
    const more = ['hubspot.match=cvr_number', 'source.changes=sample', 'hubspot.mapping=name, phone'];
    const fields = ['hubspot.fields.name.policy=if-blank', 'hubspot.fields.phone.property=-'];
    const argv = [
      'init',
      '--create-properties',
      ...[...answers, ...more, ...fields].flatMap((each) => ['--set', each]),
    ];
    const first = await run(folder, argv);
    expect([first.code, first.stderr]).toEqual([0, expect.not.stringContaining(token)]);
    expect(first.stdout).toMatch(/ok {2}hubspot: HubSpot account .*ok {2}hubspot cvr_number: created/su);
    const store = await openStore(join(folder, STORE));
    onTestFinished(() => store.close());
    const entries = await readAudit(store.db, { action: 'property.create', subject: 'hubspot', via: 'command' }, 9);
    expect(entries.map(({ result }) => result)).toEqual(['2 created', 'begun']);
    expect(first.stdout).toMatch(/The token of Ida Holm for the dashboard, shown once: cvrsync_operator_/);
    const file = readFileSync(join(folder, 'cvrsync.yaml'), 'utf8');
    expect(parse(file).connector.providers.hubspot).toEqual({
      use: 'hubspot',
      accessToken_FILE: 'secrets/hubspot-accessToken',
      baseUrl,
      match: { property: 'cvr_number' },
      hold: { property: 'cvr_hold' },
      fields: { name: [{ property: 'name', policy: 'if-blank' }, 'cvr_name'], phone: false },
    });
    expect(parse(file).timeZone).toBe('Atlantic/Faroe');
    expect(first.stdout).toMatch(/phone\tphone\tthe register, unless a person edited it/u);
    expect(file).not.toContain(token);
    const second = await run(folder, argv);
    expect([second.code, second.stderr]).toEqual([2, expect.stringContaining('replace it with --force')]);
  });

  it('does not change the secrets of another configuration in the same folder', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'cvrsync.yaml'), 'store: a.db\n');
    const { code, stderr } = await run(folder, ['--config', 'sandbox.yaml', 'init']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('choose another folder')]);
    expect(existsSync(join(folder, 'secrets'))).toBe(false);
  });

  it('asks the rest line by line, and refuses a wrong answer with the name of the question', async () => {
    const { token, baseUrl } = await hubspotWith();
    const folder = newFolder();
    writeFileSync(join(folder, 'cvrsync.yaml'), 'store: another.db\n');
    const argv = ['init', '--force', '--set', `hubspot.baseUrl=${baseUrl}`];
    // Of the mapping one field, in a property that is not there.
    const wrong = await run(folder, argv, `\n\n\n${token}\n\ncity\ntown\n`);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('hubspot has no property town')]);
    // No name, the usual zone and CRM, its token, the usual property, mapping and source.
    const ran = await run(folder, argv, `\n\n\n${token}\n\n\n\n`);
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('CVR number [cvr_number]')]);
    expect(ran.stdout).toContain('hubspot lacks 2 properties: cvr_number, cvr_hold');
    expect(parse(readFileSync(join(folder, 'cvrsync.yaml'), 'utf8')).service.register.source).toBe('file');
    expect(ran.stderr).toContain('Where alerts go (nowhere, webhook, mail) [nowhere]: ');
    expect(parse(readFileSync(join(folder, 'cvrsync.yaml'), 'utf8')).alerts).toBeUndefined();
    const without = newFolder();
    const missing = await run(without, argv, '\n\n\n\n');
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('hubspot.accessToken is missing')]);
    expect(existsSync(join(without, 'cvrsync.yaml'))).toBe(false);
  });

  it('asks where alerts go, sends a test if asked, and keeps the address and the mail server in files', async () => {
    const { token, baseUrl } = await hubspotWith();
    const [hook, office, folder] = [await webhook(), await startMailServer(), newFolder()];
    onTestFinished(() => office.close());
    const server = office.url.replace('//', '//cvrsync:pw-1234@');
    const crm = ['crm=hubspot', `hubspot.baseUrl=${baseUrl}`, `hubspot.accessToken=${token}`];
    const argv = (...answers: readonly string[]) => [
      ...['init', '--force'],
      ...[...crm, ...answers].flatMap((each) => ['--set', each]),
    ];
    const alertsIn = () => parse(readFileSync(join(folder, 'cvrsync.yaml'), 'utf8')).alerts;
    // No name, the usual zone, property, mapping and source.
    const before = '\n\n\n\n\n';
    const typed = await run(
      folder,
      argv(),
      `${before}mail\nida@example.com, bo@example.com\n${server}\nus@example.com\n\n`,
    );
    expect([typed.code, typed.stderr]).toEqual([0, expect.stringContaining('Send a test of the alerts now (no, yes)')]);
    const mail = { to: ['ida@example.com', 'bo@example.com'], url_FILE: 'secrets/alerts-mail-url' };
    expect(alertsIn()).toEqual({ mail: { ...mail, from: 'us@example.com' } });
    expect(readFileSync(join(folder, mail.url_FILE), 'utf8')).toBe(`${server}\n`);
    expect(office.mails).toEqual([]);
    const to = ['alerts.mail.to=ida@example.com', `alerts.mail.url=${office.url}`, 'alerts.mail.from=us@example.com'];
    const ways = [...to, `alerts.webhook=${hook.url}`, 'alerts.allow=127.0.0.1', 'alerts.reviewOver=50'];
    const given = await run(folder, argv(...ways, 'alerts.test=yes'), before);
    expect([given.code, given.stderr]).toEqual([0, expect.not.stringContaining('Where alerts go')]);
    expect(given.stdout).toMatch(/ok {2}alerts webhook: the test was sent\nok {2}alerts mail: the test was sent/u);
    expect(alertsIn()).toEqual({
      ...{ webhook_FILE: 'secrets/alerts-webhook', allow: ['127.0.0.1'], reviewOver: 50 },
      mail: { to: ['ida@example.com'], url_FILE: 'secrets/alerts-mail-url', from: 'us@example.com' },
    });
    expect([hook.texts, office.mails.map(({ text }) => text)]).toEqual([
      [expect.stringContaining('This is a test')],
      [expect.stringContaining('This is a test')],
    ]);
    const store = await openStore(join(folder, STORE));
    onTestFinished(() => store.close());
    const entries = await readAudit(store.db, { action: 'alert.test', via: 'command' }, 9);
    expect(entries.map(({ subject, result }) => [subject, result])).toEqual([
      ['mail', 'sent'],
      ['webhook', 'sent'],
    ]);
    hook.state.status = 500;
    const failed = await run(
      folder,
      argv(`alerts.webhook=${hook.url}`, 'alerts.allow=127.0.0.1', 'alerts.test=yes'),
      before,
    );
    expect([failed.code, failed.stdout]).toEqual([
      0,
      expect.stringMatching(/fail {2}alerts webhook: the test was not sent: .* answered 500/u),
    ]);
    expect(failed.stdout + failed.stderr).not.toContain('a-secret-path');
  });

  it('writes nothing if alerts would reach nobody, or the daemon would not take them', async () => {
    const { token, baseUrl } = await hubspotWith();
    const folder = newFolder();
    const crm = ['crm=hubspot', `hubspot.baseUrl=${baseUrl}`, `hubspot.accessToken=${token}`];
    const refused = async (...answers: readonly string[]) => {
      const argv = ['init', ...[...crm, ...answers].flatMap((each) => ['--set', each])];
      const { code, stderr } = await run(folder, argv);
      expect([code, existsSync(join(folder, 'cvrsync.yaml'))]).toEqual([2, false]);
      return stderr;
    };
    expect(await refused('alerts=mail')).toContain('alerts would reach nobody');
    expect(await refused('alerts.mail.to=ida@example.com')).toContain('alerts.mail.url is missing');
    expect(await refused('alerts.webhook=somewhere')).toContain('alerts.webhook');
    expect(await refused('alerts.wehbook=https://a.example/x')).toContain('--set alerts.wehbook answers no question');
    expect(await refused('alerts=pigeon')).toContain('alerts is one of nowhere, webhook, mail');
  });
});

it('serve does not start a set-up over a file with an error, and names the line', async () => {
  const folder = newFolder();
  // Where the set-up of a container writes it.
  mkdirSync(join(folder, 'data'));
  writeFileSync(join(folder, 'data/cvrsync.yaml'), 'store: data/x.db\nconector:\n  webhook: {}\n');
  const { code, stdout, stderr } = await run(folder, ['serve']);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain('line 2, column 1: conector is not known');
});
