/** The real command, killed at every step and started again: nothing is lost, nothing is done twice. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startHubspotEmulator } from '../../../providers/kit/hubspot/emulator.ts';
import { ALL } from '../../support/all.ts';
import { runCli } from '../../support/cli.ts';
import { startCommand } from '../../support/command.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { watchStore } from '../../support/fixture.ts';
import { type FakeService, serveService } from '../../support/service.ts';
import { type ENGINES, newFolder, newStoreUrl, opened } from '../../support/stores.ts';

const RECORDS = 250;
const PAGES = 3;
/** Calls to the service that may be under way at once. */
const AT_ONCE = 16;
const BACKFILL = ['--json', 'backfill', 'hubspot', '--yes'];

interface Harness {
  readonly folder: string;
  readonly store: string;
  readonly service: FakeService;
  /** Calls of a kind so far, over all starts. */
  readonly counts: { readonly scan: () => number; readonly read: () => number; readonly add: () => number };
  readonly ids: readonly string[];
}

const startHarness = async (engine: (typeof ENGINES)[number]): Promise<Harness> => {
  const emulator = await startHubspotEmulator({ rate: 'none' });
  onTestFinished(() => emulator.close());
  const service = await serveService();
  const folder = newFolder();
  const store = await newStoreUrl(engine);
  // An empty database is for `migrate` or `serve` to fill; a file is made.
  if (engine === 'postgres') await opened(store);
  const ids = Array.from({ length: RECORDS }, (_, at) => emulator.add({ cvr_number: cvrNumber(at) }));
  const providers = { hubspot: { use: 'hubspot', ...emulator.settings, match: { property: 'cvr_number' } } };
  const upstream = { baseUrl: service.url, accessKey: service.accessKey, requestsPerMinute: 60_000 };
  const connector = { webhook: { auth: { method: 'None' } }, providers, upstream, limits: { leaseSeconds: 5 } };
  writeFileSync(join(folder, 'cvrsync.json'), JSON.stringify({ store, connector }));
  const calls = (part: RegExp) => () => emulator.calls.filter(({ path }) => part.test(path)).length;
  return {
    folder,
    store,
    service,
    counts: { scan: calls(/companies\?limit/u), read: calls(/batch\/read/u), add: () => service.requests.length },
    ids,
  };
};

const backfill = ({ folder }: Harness, ...more: readonly string[]) =>
  startCommand(['--config', 'cvrsync.json', ...BACKFILL, ...more], folder);

interface Strike {
  readonly when: keyof Harness['counts'];
  readonly count: number;
}

/** Starts the command and kills it as soon as so many calls of a kind were made. */
const strike = async (harness: Harness, { when, count }: Strike, more: readonly string[] = []): Promise<void> => {
  const running = backfill(harness, ...more);
  await expect.poll(harness.counts[when], { timeout: 120_000, interval: 4 }).toBeGreaterThanOrEqual(count);
  await running.kill('SIGKILL');
};

const linked = async (harness: Harness): Promise<readonly string[]> => {
  const store = await watchStore(harness.store);
  const links = await store.db.selectFrom('link').selectAll().where('state', '=', 'active').execute();
  return links.map((link) => `${link.entity} ${link.record_id} ${link.observed}`).toSorted();
};

const wanted = ({ ids }: Harness): readonly string[] =>
  ids.map((id, at) => `CVR-1-${cvrNumber(at)} ${id} on`).toSorted();

const run = async (harness: Harness, strikes: readonly Strike[]): Promise<void> => {
  for (const one of strikes) await strike(harness, one);
  const { code, stdout, stderr } = await runCli(['--config', join(harness.folder, 'cvrsync.json'), ...BACKFILL]);
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('"level":"error"')]);
  expect(JSON.parse(stdout)).toMatchObject({ ended: 'done', scanned: RECORDS, linked: RECORDS, observed: RECORDS });
  expect(await linked(harness)).toEqual(wanted(harness));
  expect(harness.service.items('hubspot')).toHaveLength(RECORDS);
  // What was under way at a kill is asked for again: one page of a scan, or one of an application and a handful of calls.
  const during = (when: Strike['when']): number => strikes.filter((one) => one.when === when).length;
  expect(harness.counts.scan()).toBeLessThanOrEqual(PAGES + during('scan'));
  expect(harness.counts.read()).toBeLessThanOrEqual(PAGES + during('read') + during('add'));
  expect(harness.service.changes.length).toBeLessThanOrEqual(RECORDS + AT_ONCE * strikes.length);
  expect(new Set(harness.service.changes).size).toBe(RECORDS);
};

describe('a backfill that is killed', () => {
  it('resumes from every step', async () => {
    const strikes: readonly Strike[] = [
      { when: 'scan', count: 1 },
      { when: 'scan', count: PAGES },
      { when: 'read', count: 1 },
      { when: 'read', count: 2 },
      { when: 'add', count: 30 },
      { when: 'add', count: 200 },
    ];
    // Once at each step, and by night twice.
    await run(await startHarness('sqlite'), ALL ? strikes : strikes.filter((_, at) => at % 2 === 1));
  });

  it.runIf(ALL)('resumes on PostgreSQL, too', async () => {
    await run(await startHarness('postgres'), [
      { when: 'scan', count: 2 },
      { when: 'read', count: 2 },
      { when: 'add', count: 100 },
    ]);
  });

  it('while it reads or applies a plan resumes with that plan', async () => {
    const harness = await startHarness('sqlite');
    expect((await backfill(harness, '--plan', 'plan.csv').ended).code).toBe(0);
    const before = harness.counts.scan();
    for (const count of [1, 2]) await strike(harness, { when: 'read', count }, ['--apply', 'plan.csv']);
    const { code, stdout } = await backfill(harness, '--apply', 'plan.csv').ended;
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ ended: 'done', linked: RECORDS })]);
    expect([harness.counts.scan(), await linked(harness)]).toEqual([before, wanted(harness)]);
  });
});

it('stops on SIGTERM, says how to continue, and continues', async () => {
  const harness = await startHarness('sqlite');
  const running = startCommand(['--config', 'cvrsync.json', 'backfill', 'hubspot', '--yes'], harness.folder);
  await expect.poll(harness.counts.add, { timeout: 120_000, interval: 4 }).toBeGreaterThan(20);
  const began = performance.now();
  const { code, stdout } = await running.kill('SIGTERM');
  expect(performance.now() - began).toBeLessThan(20_000);
  expect([code, stdout]).toEqual([1, expect.stringContaining('To continue: cvrsync backfill hubspot --yes')]);
  // It is a run that waits, and that the next command continues.
  const [, id] = /cvrsync runs show (\d+)/u.exec(stdout) ?? [];
  const shown = async () => {
    const config = ['--config', join(harness.folder, 'cvrsync.json'), '--json'];
    return JSON.parse((await runCli([...config, 'runs', 'show', id ?? ''])).stdout);
  };
  expect(await shown()).toMatchObject({ action: 'backfill.apply', stage: 'run', state: 'running', via: 'command' });
  const done = await backfill(harness).ended;
  expect(done.code).toBe(0);
  expect(await shown()).toMatchObject({ state: 'done', done: RECORDS, total: RECORDS });
  expect(harness.service.changes).toHaveLength(RECORDS);
});

it('names a command with --dry-run if it is stopped in a dry run', async () => {
  const harness = await startHarness('sqlite');
  for (const [mode, said] of [
    [['--dry-run'], '--dry-run --yes'],
    [
      ['--plan', 'plan.csv', '--trust', 'register', '--send-update'],
      '--plan plan.csv --send-update --trust register --yes',
    ],
  ] as const) {
    const line = ['--config', 'cvrsync.json', 'backfill', 'hubspot', '--yes', '--restart', ...mode];
    const before = harness.counts.scan();
    const running = startCommand(line, harness.folder);
    await expect.poll(harness.counts.scan, { timeout: 120_000, interval: 4 }).toBeGreaterThan(before);
    const { code, stdout } = await running.kill('SIGTERM');
    const wanted = `Nothing was linked.\nStopped. To continue: cvrsync backfill hubspot ${said} --config `;
    expect([code, stdout]).toEqual([1, expect.stringContaining(wanted)]);
  }
  // A restart forgets what was stopped.
  const store = await watchStore(harness.store);
  const runs = await store.db.selectFrom('run').select('state').orderBy('id').execute();
  expect(runs.map(({ state }) => state)).toEqual(['cancelled', 'running']);
});
