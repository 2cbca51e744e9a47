/** What the command asks, shows and says by its exit code. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { main } from '../../../src/main.ts';
import { claimByKey } from '../../../src/runtime/lanes/claim.ts';
import { mark, park } from '../../../src/runtime/lanes/lanes.ts';
import { runCli } from '../../support/cli.ts';
import { configFor, startCrms } from '../../support/fixture.ts';
import { serveService } from '../../support/service.ts';
import { newFolder, newStoreUrl, opened } from '../../support/stores.ts';

const NUMBERS = ['95012353', '95023452', '10150817'];
const ENTITY = `CVR-1-${NUMBERS[0]}`;

/** A HubSpot with `count` linked records, and a service that lists all but the first. */
async function startHarness({ count = 3 } = {}) {
  const crms = await startCrms();
  const service = await serveService();
  const url = await newStoreUrl('sqlite');
  const upstream = { baseUrl: service.url, accessKey: service.accessKey, requestsPerMinute: 60_000 };
  const hubspot = { match: { property: 'cvr_number' } };
  const file = join(newFolder(), 'cvrsync.json');
  writeFileSync(file, JSON.stringify(configFor(crms, url, { connections: { hubspot }, upstream })));
  const store = await opened(url);
  const ids = NUMBERS.slice(0, count).map((number) => crms.hubspot.add({ cvr_number: number }));
  for (const [at, recordId] of ids.entries()) {
    const entity = `CVR-1-${NUMBERS[at]}`;
    if (at > 0) service.put('hubspot', entity, recordId);
    const desired = { provider: 'hubspot', recordId, entity, sendUpdate: false, now: 1_000 };
    await store.write((tx) => linkRecord(tx, desired));
  }
  await store.write(async (tx) => {
    await tx.deleteFrom('lane').execute();
    await tx.updateTable('link').set({ observed: 'on' }).execute();
  });
  const argv = (...line: string[]): string[] => [
    '--config',
    file,
    '--log-level',
    'silent',
    'reconcile',
    'hubspot',
    ...line,
  ];
  const lanes = async (queue: string) =>
    (await store.db.selectFrom('lane').selectAll().where('queue', '=', queue).execute()).map(({ key }) => key);
  const ask = async (typed: string, end = false, ...line: string[]) => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    let shown = '';
    const write = (text: string): void => {
      shown += text;
    };
    const sink = { isTTY: true, write };
    if (end) stdin.end(typed);
    else stdin.write(typed);
    const code = await main(argv(...line), {
      stdin,
      stdout: sink,
      stderr: sink,
      env: {},
      signal: new AbortController().signal,
    });
    return { code, shown };
  };
  return { ...crms, service, store, ids, lanes, ask, run: (...line: string[]) => runCli(argv(...line)) };
}

describe('reconcile', () => {
  it('asks at a terminal, and repairs after a yes', async () => {
    const { ask, lanes, ids } = await startHarness();
    const no = await ask('n\n');
    expect(no).toMatchObject({ code: 3, shown: expect.stringContaining('Repair 1? [y/N]') });
    expect(no.shown).toContain('Nothing was changed.');
    expect(await lanes('monitoring')).toEqual([]);
    expect(await ask('yes\n')).toMatchObject({ code: 0 });
    expect(await lanes('monitoring')).toEqual([`hubspot:${ids[0]}`]);
  });

  it('treats the end of its input as a no', async () => {
    const { ask, lanes } = await startHarness();
    expect(await ask('', true)).toMatchObject({ code: 3 });
    expect(await lanes('monitoring')).toEqual([]);
  });

  it('changes nothing without a terminal and without a yes, and says so', async () => {
    const { run, lanes } = await startHarness();
    const { code, stdout } = await run();
    expect([code, stdout]).toEqual([
      3,
      expect.stringMatching(/To repair: cvrsync reconcile hubspot --yes --config \S+\n$/u),
    ]);
    expect(stdout).toContain('1 linked, and not monitored by the service: ask the service again to monitor it');
    expect(await lanes('monitoring')).toEqual([]);
    expect(await run('--yes')).toMatchObject({ code: 0 });
  });

  it('counts links that are too young to compare, in singular and plural', async () => {
    const { run, store } = await startHarness({ count: 1 });
    expect((await run('--dry-run')).stdout).toContain(
      'Compared 1 record in hubspot, 1 link, 0 items of the service.\n',
    );
    await store.write((tx) => tx.updateTable('link').set({ updated_at: Date.now() }).execute());
    const { stdout } = await run('--dry-run');
    expect(stdout).toContain('Compared 1 record in hubspot, 0 links, 0 items of the service.\n');
    expect(stdout).toContain('1 link changed less than a minute ago: compared the next time.\n');
    expect(JSON.parse((await run('--dry-run', '--json')).stdout)).toMatchObject({ links: 0, young: 1 });
  });

  it('changes nothing with --dry-run, and does not delay the next comparison of the daemon', async () => {
    const { ask, run, store, lanes } = await startHarness();
    await store.write((tx) => mark(tx, 'poll', ['hubspot reconcile'], 5_000));
    const { code, stdout } = await run('--dry-run', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      provider: 'hubspot',
      records: 3,
      links: 3,
      items: 2,
      doubts: [],
      differences: [{ kind: 'unmonitored', count: 1, repaired: 0, left: null, some: [{ entity: ENTITY }] }],
      repaired: null,
    });
    expect(await lanes('monitoring')).toEqual([]);
    const lane = await store.db.selectFrom('lane').selectAll().where('queue', '=', 'poll').executeTakeFirstOrThrow();
    expect(lane).toMatchObject({ due_at: 5_000, fence: null });
    expect(await store.db.selectFrom('scan').selectAll().execute()).toEqual([]);
    // Nor does it ask where somebody could say yes.
    const asked = await ask('yes\n', false, '--dry-run');
    expect([asked.code, asked.shown]).toEqual([0, expect.not.stringContaining('Repair 1?')]);
    expect(await lanes('monitoring')).toEqual([]);
  });

  it('reports an implausible list without changing anything, and accepts it if a person confirms it', async () => {
    const { run, hubspot, ids, lanes } = await startHarness();
    for (const id of ids) hubspot.remove(id);
    const doubted = await run('--yes');
    expect([doubted.code, doubted.stdout]).toEqual([3, expect.stringContaining('lists no company at all')]);
    expect(doubted.stdout).toContain('--allow-shrink');
    expect(await lanes('heal:hubspot')).toEqual([]);
    expect(await run('--yes', '--allow-shrink')).toMatchObject({ code: 0 });
    expect((await lanes('heal:hubspot')).toSorted()).toEqual(ids.toSorted());
  });

  it('says that a safety limit still withholds its repairs', async () => {
    const { run, hubspot, ids, store } = await startHarness();
    for (const id of ids) hubspot.remove(id);
    await store.write((tx) => park(tx, 'heal:hubspot', '*', { at: 1, error: 'too many' }));
    expect(await run('--yes', '--allow-shrink')).toMatchObject({
      code: 3,
      stdout: expect.stringContaining("cvrsync review accept 'lane/heal:hubspot/*'"),
    });
  });

  it('does not measure the next list by an implausible one', async () => {
    const { run, hubspot } = await startHarness();
    const others = Array.from({ length: 12 }, (_, at) => hubspot.add({ name: `Uden nummer ${at}` }));
    expect(await run('--yes')).toMatchObject({ code: 0 });
    for (const id of others) hubspot.remove(id);
    const mismatch = expect.stringContaining('lists 3 companies, and listed 15 the last time');
    for (const line of [['--yes'], ['--dry-run'], ['--yes']])
      expect(await run(...line)).toMatchObject({ code: 3, stdout: mismatch });
    expect(await run('--yes', '--allow-shrink')).toMatchObject({ code: 0 });
    expect(await run('--yes')).toMatchObject({ code: 0, stdout: expect.not.stringContaining('Not plausible') });
  });

  it('does not run beside another one', async () => {
    const { run, store } = await startHarness();
    await claimByKey(store, 'poll', ['hubspot reconcile'], { now: Date.now(), leaseMs: 60_000 });
    expect(await run('--yes')).toMatchObject({ code: 1, stderr: expect.stringContaining('is being reconciled') });
  });

  it('answers bad usage with the correct one', async () => {
    const { run } = await startHarness({ count: 0 });
    expect(await run('--yes', '--dry-run')).toMatchObject({ code: 2 });
  });
});
