import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startHubspotEmulator } from '../../providers/kit/hubspot/emulator.ts';
import { requestBackfill } from '../../src/connector/backfill/plan/backfill-task.ts';
import { runCli } from '../support/cli.ts';
import { cvrNumber } from '../support/cvr-numbers.ts';
import { watchStore } from '../support/fixture.ts';
import { type FakeService, serveService } from '../support/service.ts';
import { newFolder } from '../support/stores.ts';

const A = 'CVR-1-10150817';

/** A CRM, a configuration with a store of its own, and the command on it. */
const setup = async (service?: FakeService) => {
  const emulator = await startHubspotEmulator({ rate: 'none' });
  onTestFinished(() => emulator.close());
  const folder = newFolder();
  const file = path.join(folder, 'cvrsync.json');
  const storeUrl = path.join(folder, 'data', 's.db');
  const configure = (more: object = { match: { property: 'cvr_number' } }): void => {
    const providers = { hubspot: { use: 'hubspot', ...emulator.settings, ...more } };
    const upstream = service && {
      upstream: { baseUrl: service.url, accessKey: service.accessKey, requestsPerMinute: 60_000 },
    };
    const connector = { webhook: { auth: { method: 'None' } }, providers, ...upstream };
    writeFileSync(file, JSON.stringify({ store: storeUrl, connector }));
  };
  configure();
  const run = (...line: string[]) => runCli(['--config', file, ...line]);
  const json = async (...more: string[]) =>
    JSON.parse((await run('--json', 'backfill', 'hubspot', '--yes', ...more)).stdout);
  const links = async () => JSON.parse((await run('--json', 'links')).stdout);
  return { emulator, configure, run, json, links, storeUrl, plan: path.join(folder, 'plan.csv') };
};

describe('backfill', () => {
  it('links records, starts their monitoring, and prints a summary', async () => {
    const service = await serveService();
    const { emulator, run, links } = await setup(service);
    const id = emulator.add({ name: 'Opdigtet ApS', cvr_number: 'DK 10 15 08 17' });
    emulator.add({ name: 'Uden nummer' });
    const { code, stdout, stderr } = await run('backfill', 'hubspot', '--yes', '--send-update');
    expect(code).toBe(0);
    expect(stdout).toContain('hubspot: 2 records scanned');
    expect(stdout).toMatch(/1 {2}matched {4}the number of a company\n +1 {2}no-number/u);
    expect(stdout).toContain('1 record linked, 1 monitored.');
    expect(stdout).toContain('cvrsync review list --kind difference');
    expect(stderr).toContain('calls: CRM');
    expect(service.changes).toEqual([`add hubspot ${A} ${id} +update`]);
    expect(await links()).toMatchObject([{ record: id, entity: A, state: 'active', observed: 'on' }]);
  });

  it('exits with 3 if records need a person, and shows some of them', async () => {
    const { emulator, run } = await setup();
    for (let at = 0; at < 12; at++) emulator.add({ name: `Firma ${at}\u001B[2J`, cvr_number: `ukendt ${at}` });
    const { code, stdout } = await run('backfill', 'hubspot', '--yes');
    expect(code).toBe(3);
    expect(stdout).toContain('12 records need a person:');
    expect(stdout.split('\n').filter((line) => line.includes('invalid:'))).toHaveLength(10);
    expect(stdout).toContain('and more: cvrsync backfill hubspot --plan FILE lists them all');
    expect(stdout).not.toContain('\u001B');
  });

  it('exits with 3 if the monitoring service refuses a company', async () => {
    const service = await serveService();
    service.refuse(A, 404, 'No such company');
    const { emulator, run } = await setup(service);
    emulator.add({ cvr_number: '10150817' });
    const { code, stdout } = await run('backfill', 'hubspot', '--yes');
    expect([code, stdout]).toEqual([
      3,
      expect.stringContaining('1 refused by the monitoring service: see cvrsync review'),
    ]);
  });

  it('changes nothing with --dry-run', async () => {
    const { emulator, run, links } = await setup();
    for (let at = 0; at < 12; at++) emulator.add({ cvr_number: cvrNumber(at) });
    const { code, stdout } = await run('backfill', 'hubspot', '--dry-run');
    expect([code, stdout]).toEqual([0, expect.stringContaining('12 records would be linked:')]);
    expect(stdout).toContain('  and 2 more');
    expect([await links(), emulator.calls.filter(({ method }) => method !== 'GET')]).toEqual([[], []]);
  });

  it('questions the property if it holds no numbers, or mostly numbers that fail the check', async () => {
    const { emulator, run, configure } = await setup();
    emulator.add({ name: 'Firma', cvr_number: '10150817', phone: '10150817' });
    for (let at = 0; at < 12; at++) emulator.add({ phone: `20 00 00 ${10 + at}` });
    configure({ match: { property: 'phone' }, fields: { phone: false } });
    const { stdout } = await run('backfill', 'hubspot', '--dry-run');
    expect(stdout).toMatch(/1[12] of the matched numbers fail the register's check \(modulus 11\): the plan marks/u);
    expect(stdout).toContain('is phone the property that holds the CVR number? Set connector.providers.hubspot.match.');
    configure({ match: { property: 'city' }, fields: { city: false } });
    expect((await run('backfill', 'hubspot', '--dry-run')).stdout).toContain('No record has a number: is city the');
    configure({ match: { property: 'cvr_number' } });
    emulator.add({ cvr_number: '10150818' });
    const right = (await run('backfill', 'hubspot', '--dry-run')).stdout;
    expect(right).toContain("1 of the matched numbers fails the register's check");
    expect(right).toContain('1 record is not linked, because the number may be mistyped or lack a zero');
    expect(right).not.toContain('That is most of them');
  });

  it('writes a plan and applies it', async () => {
    const { emulator, run, links, plan, storeUrl } = await setup();
    const ids = [0, 1, 2].map((at) => emulator.add({ cvr_number: cvrNumber(at) }));
    const planned = await run('backfill', 'hubspot', '--plan', plan);
    expect(planned.stdout).toContain(`run cvrsync backfill hubspot --apply ${plan}`);
    const edited = readFileSync(plan, 'utf8').replace(new RegExp(`^(.*${cvrNumber(1)}.*);link;`, 'mu'), '$1;skip;');
    writeFileSync(plan, edited);
    expect((await run('backfill', 'hubspot', '--apply', plan)).code).toBe(0);
    expect((await links()).map((link: { record: string }) => link.record)).toEqual([ids[0], ids[2]]);
    // As runs, and with the entries in the audit that pages leave.
    const shown: readonly { readonly action: string; readonly state: string; readonly via: string }[] = JSON.parse(
      (await run('--json', 'runs', 'list')).stdout,
    );
    expect(shown.map(({ action, state, via }) => `${action} ${state} ${via}`)).toEqual([
      'backfill.apply done command',
      'backfill.scan done command',
    ]);
    const store = await watchStore(storeUrl);
    const entries = await store.db.selectFrom('audit').selectAll().orderBy('id').execute();
    expect(entries.map(({ action, result, via }) => `${action} ${result} ${via}`)).toEqual([
      'backfill.scan begun command',
      'backfill.upload done command',
      'backfill.apply begun for 2 records command',
      'backfill.apply done; 2 linked, 0 failed, 0 left command',
    ]);
  });

  it('executes a run itself after its daemon ended', async () => {
    const { emulator, run, json, links, storeUrl } = await setup();
    emulator.add({ cvr_number: '10150817' });
    await run('backfill', 'hubspot', '--dry-run');
    const digests = JSON.stringify({ connector: { 'providers.hubspot': 'of it' } });
    const dead = { id: 'dead', name: 'a daemon', started_at: 1, seen_at: Date.now() - 34_000, digests, roles: 'sync' };
    const store = await watchStore(storeUrl);
    await store.write((tx) => tx.insertInto('daemon').values(dead).execute());
    expect(await json()).toMatchObject({ ended: 'done', linked: 1 });
    expect(await links()).toHaveLength(1);
  });

  it('does not wait for another kind of run, and names it', async () => {
    const { emulator, run, storeUrl } = await setup();
    emulator.add({ cvr_number: '10150817' });
    await run('backfill', 'hubspot', '--dry-run');
    const store = await watchStore(storeUrl);
    const input = { kind: 'match', provider: 'hubspot', revision: 'none' } as const;
    const caller = { actor: { kind: 'operator', name: 'ida' }, via: 'page' } as const;
    const id = await store.write((tx) => requestBackfill(tx, { input, ...caller }, 1));
    const { code, stderr } = await run('backfill', 'hubspot', '--yes');
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(
        `run ${id} works on the plan of hubspot: see cvrsync runs show ${id}, and stop it with cvrsync runs cancel ${id}`,
      ),
    ]);
    expect((await run('backfill', 'hubspot', '--yes', '--restart')).code).toBe(0);
  });

  it('names the options to apply a plan with, and those to continue a limited one with', async () => {
    const { emulator, run, plan } = await setup();
    for (const number of ['10150817', '20000007']) emulator.add({ cvr_number: number });
    const planned = await run('backfill', 'hubspot', '--plan', plan, '--trust', 'register');
    expect(planned.stdout).toContain(`run cvrsync backfill hubspot --apply ${plan} --trust register`);
    const { stdout } = await run('backfill', 'hubspot', '--apply', plan, '--limit', '1', '--send-update');
    const next = `cvrsync backfill hubspot --apply ${plan} --limit 1 --send-update --trust register --config `;
    const last = (text: string): string | undefined => text.trim().split('\n').at(-1);
    expect(last(stdout)).toContain(`1 record left by --limit. To continue: ${next}`);
    expect(last((await run('backfill', 'hubspot', '--apply', plan, '--limit', '1')).stdout)).toBe(
      'Nothing is left to link.',
    );
    const spaced = plan.replace('plan.csv', 'min plan.csv');
    const other = await run('backfill', 'hubspot', '--plan', spaced, '--restart');
    expect(other.stdout).toContain(`--apply "${spaced}"`);
  });

  it('says how to request updates of all companies if that was not requested', async () => {
    const service = await serveService();
    const { emulator, run, plan } = await setup(service);
    const id = emulator.add({ cvr_number: '10150817' });
    expect((await run('backfill', 'hubspot', '--yes')).stdout).toContain(
      'hubspot --plan FILE, set the action of linked rows to link',
    );
    await run('backfill', 'hubspot', '--plan', plan, '--trust', 'register');
    writeFileSync(plan, readFileSync(plan, 'utf8').replace('linked;skip', 'linked;link'));
    const { stdout } = await run('backfill', 'hubspot', '--apply', plan);
    expect(stdout).toContain(
      `To send all of them now: cvrsync backfill hubspot --apply ${plan} --send-update --trust register`,
    );
    const sent = await run('backfill', 'hubspot', '--apply', plan, '--trust', 'register', '--send-update');
    expect(sent.stdout).not.toContain('To send all of them');
    expect(service.changes).toEqual([`add hubspot ${A} ${id}`, `add hubspot ${A} ${id} +update`]);
  });

  it('counts earlier links, and says that another scan does not let the register win there', async () => {
    const { emulator, run, plan } = await setup();
    for (const number of ['10150817', '20000007']) emulator.add({ cvr_number: number });
    await run('backfill', 'hubspot', '--plan', plan);
    await run('backfill', 'hubspot', '--apply', plan, '--limit', '1');
    const { stdout } = await run('backfill', 'hubspot', '--apply', plan, '--trust', 'register');
    expect(stdout).toContain('2 records linked; no');
    const again = await run('backfill', 'hubspot', '--apply', plan, '--trust', 'register');
    expect(again.stdout).toContain('2 records linked (2 of them before this run); no');
    expect(again.stdout).toContain('Records that were linked before are not overwritten');
    const { stdout: reported } = await run('backfill', 'hubspot', '--apply', plan);
    expect(reported).toContain('Properties that differ stay');
  });

  it('no longer lists records that the plan decided', async () => {
    const { emulator, json, plan } = await setup();
    const [one, two] = ['10150817', 'DK10150817'].map((number) => emulator.add({ cvr_number: number }));
    await json('--plan', plan);
    writeFileSync(plan, `record;number;action\n${one};10150817;link\n${two};10150817;skip\n`);
    const { person, sample } = await json('--apply', plan);
    expect([person, sample.person.map(({ record }: { record: string }) => record)]).toEqual([1, [two]]);
  });

  it('explains the errors in a plan, and changes nothing', async () => {
    const { emulator, run, links, plan } = await setup();
    emulator.add({ cvr_number: '10150817' });
    await run('backfill', 'hubspot', '--dry-run');
    writeFileSync(plan, 'record;number;action\n1;10150817;link\n2;10150817;maybe\n');
    const { code, stderr } = await run('backfill', 'hubspot', '--apply', plan);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /nothing of it was:\n {2}line 2: record 1 is not among those.*\n {2}line 3: the action of record 2/u,
    );
    expect(await links()).toEqual([]);
  });

  it('prints one document with --json', async () => {
    const { emulator, json, run } = await setup(await serveService());
    emulator.add({ name: 'A', cvr_number: '10150817' });
    emulator.add({ name: 'B', cvr_number: 'ukendt' });
    expect(await json('--trust', 'register')).toEqual({
      provider: 'hubspot',
      ended: 'done',
      scanned: 2,
      verdicts: { matched: 1, invalid: 1 },
      mistyped: 0,
      unsure: 0,
      toLink: 0,
      linked: 1,
      failed: 0,
      observed: 1,
      refused: 0,
      unconfirmed: 0,
      person: 1,
      trust: 'register',
      calls: { crm: expect.any(Number), service: 1 },
      seconds: expect.any(Number),
      sample: {
        link: [expect.objectContaining({ number: '10150817', entity: A, verdict: 'matched', action: 'link' })],
        person: [expect.objectContaining({ name: 'B', verdict: 'invalid', action: 'skip' })],
      },
    });
    // Progress goes to the log, line by line.
    const { stderr } = await run('--json', 'backfill', 'hubspot', '--yes');
    for (const line of stderr.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ msg: 'backfill' });
  });

  it('continues after --limit', async () => {
    const { emulator, run, json } = await setup();
    for (let at = 0; at < 5; at++) emulator.add({ cvr_number: cvrNumber(at) });
    const first = await run('backfill', 'hubspot', '--yes', '--limit', '2');
    expect([first.code, first.stdout]).toEqual([
      0,
      expect.stringMatching(
        /\n3 records left by --limit\. To continue: cvrsync backfill hubspot --limit 2 --yes --config \S+\n$/u,
      ),
    ]);
    expect(await json()).toMatchObject({ ended: 'done', linked: 5 });
  });

  it.each([
    [['hubspto'], 'did you mean hubspot?'],
    [['hubspot', '--dry-run', '--plan', 'x.csv'], 'give only one of'],
    [['hubspot', '--plan', 'x.csv', '--limit', '5'], '--limit counts linked records'],
    [['hubspot', '--dry-run', '--limit', '5'], '--limit counts linked records'],
    [['hubspot', '--limit', 'all'], 'is not a whole number'],
    [['hubspot', '--yes', '--limit', '0'], '0 is too small: give at least 1'],
    [['hubspot', '--trust', 'me'], 'crm, register'],
    [['hubspot', '--apply', 'nowhere.csv'], 'there is no plan nowhere.csv'],
  ])('answers %j with the correct usage', async (line, message) => {
    const { run } = await setup();
    expect(await run('backfill', ...line)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });

  it('names a missing key, and fails if the CRM refuses the credentials', async () => {
    const { configure, run } = await setup();
    configure({});
    expect(await run('backfill', 'hubspot', '--yes')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('connector.providers.hubspot.match'),
    });
    configure({ match: { property: 'cvr_number' }, accessToken: 's3cret-of-mine' });
    const { code, stderr } = await run('backfill', 'hubspot', '--yes');
    expect(code).toBe(1);
    expect(stderr).not.toContain('s3cret-of-mine');
  });
});
