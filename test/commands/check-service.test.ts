/** What `check` finds out about the service. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { serveRegister } from '../../src/commands/emulate/register.ts';
import { park } from '../../src/runtime/lanes/lane-state.ts';
import { createKey } from '../../src/service/keys/keys.ts';
import { loadSecretKey, openSecrets } from '../../src/service/keys/secrets.ts';
import { createMonitor } from '../../src/service/monitors/monitors.ts';
import { WITHHELD_KEY, WITHHELD_QUEUE } from '../../src/service/register/watch/withheld.ts';
import { openStore } from '../../src/store/engines/open.ts';
import { writeValue } from '../../src/store/kv.ts';
import { startSignOn } from '../dashboard/issuer.ts';
import { refusal, startMailServer } from '../service/mail/mail-server.ts';
import { runCli } from '../support/cli.ts';
import { newFolder } from '../support/stores.ts';

let folder = '';
let store = '';
beforeEach(async () => {
  folder = newFolder();
  store = join(folder, 'store.db');
  await mkdir(join(folder, 'register'));
  await writeFile(join(folder, 'register', '1.json'), '{}');
});

/** What is found about a service, and the exit code. */
async function found(service: object = {}, server: object = { port: 0 }, admin: object = {}) {
  const file = join(folder, 'cvrsync.json');
  const register = { source: 'file', path: join(folder, 'register') };
  await writeFile(file, JSON.stringify({ server, admin, store, service: { register, ...service } }));
  const { code, stdout } = await runCli(['--config', file, 'check', '--json']);
  const findings: { level: string; subject: string; found: string; advice?: string }[] = JSON.parse(stdout);
  const about = (subject: string) =>
    findings.filter((each) => each.subject === subject).map(({ level, found: what }) => `${level} ${what}`);
  return { code, findings, about };
}

const smtpOf = (url: string) => ({ smtp: { url, from: 'cvrsync@example.com' } });

describe('check of a service', () => {
  it('finds nothing to fix in a sound service', async () => {
    const { url } = await startMailServer();
    const server = { publicUrl: 'https://cvr.example.com', port: 0 };
    const { code, findings } = await found(smtpOf(url), server);
    expect(code).toBe(0);
    expect(findings.filter(({ level }) => level === 'fail' || level === 'warn')).toEqual([]);
  });

  it('queries the issuer of single sign-on, and names the address to register there', async () => {
    const { issuer, stopIssuer } = await startSignOn();
    const roles = { viewer: ['crm'] };
    const oidc = { issuer, clientId: 'cvrsync', clientSecret: 'sesame', roles };
    const admin = { port: 0, publicUrl: 'https://cvrsync.example.com', oidc };
    const well = await found({}, { port: 0 }, admin);
    expect([well.code, well.about('single sign-on')]).toEqual([0, [`ok ${issuer} answers`]]);
    const advice = well.findings.find(({ subject }) => subject === 'single sign-on')?.advice;
    expect(advice).toContain('https://cvrsync.example.com/login/oidc/callback');
    const other = await found({}, { port: 0 }, { ...admin, oidc: { ...oidc, issuer: `${issuer}/other` } });
    expect([other.code, ...other.about('single sign-on')]).toEqual([1, expect.stringMatching(/^fail /)]);
    await stopIssuer();
    const silent = await found({}, { port: 0 }, admin);
    expect([silent.code, ...silent.about('single sign-on')]).toEqual([1, expect.stringMatching(/^fail /)]);
    expect(JSON.stringify([well, other, silent])).not.toContain('sesame');
  });

  it('reads one document of the register', async () => {
    const emulator = await serveRegister({ companies: 3, password: 'the-password' });
    try {
      expect((await found({ register: emulator.settings })).about('register')).toEqual([
        expect.stringMatching(/^ok .* gives documents$/),
      ]);
      const wrong = await found({ register: { ...emulator.settings, password: 'not-the-one' } });
      expect([wrong.code, ...wrong.about('register')]).toEqual([1, expect.stringMatching(/^fail .*/)]);
      expect(JSON.stringify(wrong.findings)).not.toContain('not-the-one');
    } finally {
      await emulator.close();
    }
  });

  it('fails if a part of the register was not read for long, and names it', async () => {
    const emulator = await serveRegister({ companies: 3, password: 'the-password' });
    try {
      const service = { register: emulator.settings };
      expect((await found(service)).code).toBe(0);
      const opened = await openStore(store);
      await loadSecretKey(undefined, store);
      const feed = (asked: number) => ({ seen: [0, '0'], at: null, near: false, asked, swept: 0 });
      const cursor = { virksomhed: feed(Date.now() - 3_600_000), produktionsenhed: feed(Date.now()) };
      await opened.write((tx) => writeValue(tx, 'cursor:cvr', JSON.stringify(cursor), Date.now()));
      await opened.close();
      const { code, about } = await found(service);
      expect([code, ...about('register')]).toEqual([
        1,
        expect.stringMatching(/^fail the companies were last read at /),
      ]);
    } finally {
      await emulator.close();
    }
  });

  it('fails while the safety limit of the register withholds removals, until a person decides', async () => {
    const opened = await openStore(store);
    await loadSecretKey(undefined, store);
    await opened.write((tx) =>
      park(tx, WITHHELD_QUEUE, WITHHELD_KEY, { at: 1, error: '60 companies lost their owners' }),
    );
    await opened.close();
    const limited = await found();
    expect([limited.code, limited.about('safety limit')]).toEqual([1, ['fail 60 companies lost their owners']]);
    expect(limited.findings.find(({ subject }) => subject === 'safety limit')?.advice).toContain(
      "cvrsync review accept 'lane/withheld/*'",
    );
  });

  it('reports a missing or empty folder', async () => {
    const missing = await found({ register: { source: 'file', path: join(folder, 'nowhere') } });
    expect([missing.code, ...missing.about('register')]).toEqual([1, expect.stringMatching(/^fail /)]);
    const relative = await found({ register: { source: 'file', path: 'nowhere/register' } });
    const { found: said = '', advice = '' } = relative.findings.find(({ subject }) => subject === 'register') ?? {};
    expect(said).toContain(`cannot read ${resolve('nowhere/register')}`);
    expect(advice).toContain('starts at the working directory');
    await mkdir(join(folder, 'empty'));
    const empty = await found({ register: { source: 'file', path: join(folder, 'empty') } });
    expect([empty.code, ...empty.about('register')]).toEqual([0, expect.stringMatching(/^warn .*no document$/)]);
  });

  it('connects to the mail server without sending, and reports links without an address', async () => {
    const office = await startMailServer();
    const { about } = await found(smtpOf(office.url));
    expect(about('mail')).toEqual([
      'warn the links that end a mail lead to an address of this machine',
      'ok the mail server answers and accepts the connection',
    ]);
    expect(office.mails).toEqual([]);
    expect((await found(smtpOf('smtp://127.0.0.1:9'))).about('mail')[1]).toMatch(/^fail /);
    const shut = await startMailServer({ onConnect: (_session, done) => done(refusal(554, 'not you')) });
    expect((await found(smtpOf(shut.url))).about('mail')[1]).toMatch(/^fail .*not you/);
  });

  it('names failing monitors, jobs without recipients, and mail without a server', async () => {
    const opened = await openStore(store);
    const secrets = openSecrets(await loadSecretKey(undefined, store));
    const [off, failing] = await opened.write(async (tx) => {
      const { id: owner } = await createKey(tx, { name: 'key', scopes: ['monitoring'] }, 1);
      await createMonitor(tx, { name: 'silent job', owner, provider: 'hubspot' }, { secrets, now: 1 });
      const url = 'https://hooks.example.com/cvr';
      const one = await createMonitor(tx, { name: 'off', url, emails: ['a@example.com'] }, { secrets, now: 1 });
      const two = await createMonitor(tx, { name: 'failing', url }, { secrets, now: 1 });
      const events = ['name', 'trueOwnership'] as const;
      await createMonitor(tx, { name: 'owners', url, events }, { secrets, now: 1 });
      return [one.id, two.id];
    });
    await opened.write(async (tx) => {
      const gone = { enabled: 0, disabled_reason: 'gone', disabled_at: 2 } as const;
      await tx.updateTable('monitor').set(gone).where('id', '=', off).execute();
      await tx.updateTable('monitor').set({ failing_since: 2 }).where('id', '=', failing).execute();
    });
    await opened.close();
    const { code, about } = await found();
    expect(code).toBe(0);
    expect(about('monitors')).toEqual([
      `warn switched off, because their webhooks failed: off (${off})`,
      `warn failing now: failing (${failing})`,
      expect.stringMatching(/^warn jobs without a webhook, so nobody is notified: silent job /),
      expect.stringMatching(/^warn ask for events of beneficial owners, which are left out: owners /),
    ]);
    expect(about('mail')).toEqual([expect.stringMatching(/^warn not configured, and 1 monitors have recipients/)]);
    await writeFile(`${store}.key`, `${Buffer.alloc(32).toString('base64')}\n`);
    expect((await found()).about('monitors')).toEqual([expect.stringMatching(/^fail .*key file/)]);
  });

  it('fails for an admin listener that is reachable from other machines, with the remedy for a container', async () => {
    expect((await found()).about('admin listener')).toEqual([]);
    for (const host of ['0.0.0.0', '::', '10.1.2.3', 'localhost.example.com']) {
      const open = await found({}, { port: 0 }, { host });
      expect([open.code, ...open.about('admin listener')]).toEqual([1, expect.stringMatching(`^fail .*${host}`)]);
      expect(open.findings.find(({ level }) => level === 'fail')?.advice).toMatch(/admin\.host.*admin\.exposed: true/);
      const meant = await found({}, { port: 0 }, { host, exposed: true });
      expect([meant.code, ...meant.about('admin listener')]).toEqual([0, expect.stringMatching(/^info /)]);
    }
    for (const host of ['127.0.0.1', '::1', 'localhost'])
      expect((await found({}, { port: 0 }, { host })).about('admin listener')).toEqual([]);
  });

  it('reports an invalid key file without changing it', async () => {
    await writeFile(`${store}.key`, 'not a key');
    const { code, about, findings } = await found();
    expect([code, about('key')]).toEqual([1, [expect.stringContaining('does not hold 32 bytes')]]);
    expect(about('key')).toEqual([expect.stringContaining('restore it from the backup')]);
    expect(findings.find(({ subject }) => subject === 'key')?.advice).toContain('restore the key file');
    expect(await readFile(`${store}.key`, 'utf8')).toBe('not a key');
  });
});

it('lists problems first, and sound findings with --all', async () => {
  const file = join(newFolder(), 'cvrsync.json');
  const service = { register: { source: 'file', path: '/nonexistent/register' } };
  await writeFile(file, JSON.stringify({ store, service }));
  const [brief, whole] = [
    await runCli(['--config', file, 'check']),
    await runCli(['--config', file, 'check', '--all']),
  ];
  const levels = ({ stdout }: { readonly stdout: string }) =>
    stdout.split('\n').flatMap((line) => /^(ok|info|warn|fail)\t/u.exec(line)?.[1] ?? []);
  expect(levels(brief)).not.toContain('ok');
  expect(levels(brief)[0]).toBe('fail');
  expect(brief.stdout).toMatch(/\d to fix, \d to look at\. \d+ more are as they should be: --all shows them\./u);
  const all = levels(whole);
  const order = ['fail', 'warn', 'info', 'ok'];
  expect(all).toEqual(all.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)));
  expect(new Set(all)).toContain('ok');
});
