/** A backfill without its command: an emulated CRM, a store, a monitoring service, and a clock if one is wanted. */
import { onTestFinished } from 'vitest';
import type { CrmEmulator } from '../../../providers/kit/emulator/emulator.ts';
import { startHubspotEmulator } from '../../../providers/kit/hubspot/emulator.ts';
import { startSalesforceEmulator } from '../../../providers/kit/salesforce/emulator.ts';
import type { Connection } from '../../../providers/provider.ts';
import { type ModeOptions, runMode } from '../../../src/commands/backfill/modes.ts';
import { type BackfillSteps, type Ended, scan } from '../../../src/commands/backfill/steps.ts';
import { runBackfill } from '../../../src/connector/backfill/backfill.ts';
import { backfillWork } from '../../../src/connector/backfill/backfill-worker.ts';
import { startConfirming } from '../../../src/connector/backfill/confirm-monitoring.ts';
import { matchCrm } from '../../../src/connector/backfill/match-crm.ts';
import { BACKFILL } from '../../../src/connector/backfill/plan/backfill-task.ts';
import type { BackfillDeps, BackfillStep } from '../../../src/connector/backfill/rows/backfill-context.ts';
import { outcomeOf } from '../../../src/connector/backfill/rows/outcome.ts';
import { type BackfillProgress, readRun } from '../../../src/connector/backfill/rows/progress.ts';
import { openCrm } from '../../../src/connector/crm/crm.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { openUpstream, upstreamRateLimiter } from '../../../src/connector/monitoring/upstream.ts';
import { MONITORING_QUEUE } from '../../../src/connector/names/queues.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { type OutboundHttp, openClient } from '../../../src/http/outbound/client.ts';
import { pause } from '../../../src/runtime/limits/pause.ts';
import { beginRun, endRun, findRun, isRunOf } from '../../../src/runtime/runs/runs.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import type { Store, Tx } from '../../../src/store/store.ts';
import type { HandClock } from '../../support/clock.ts';
import { checked } from '../../support/config.ts';
import { type FakeService, serveService } from '../../support/service.ts';
import { type ENGINES, newStore } from '../../support/stores.ts';

export const NAMES = {
  hubspot: { number: 'cvr_number', name: 'name', hold: 'about_us' },
  salesforce: { number: 'CVR_Number__c', name: 'Name', hold: 'Description' },
} as const;

export interface FixtureOptions {
  readonly engine?: (typeof ENGINES)[number];
  /** A new one of the engine where absent. */
  readonly store?: Store;
  readonly crm?: keyof typeof NAMES;
  /** The CRM; one without a rate limit where absent. */
  readonly emulator?: CrmEmulator;
  readonly clock?: HandClock;
  /** Common keys of the connection beside match and hold. */
  readonly connection?: object;
  /** While it is, calls to the monitoring service find nobody. */
  readonly isServiceAway?: () => boolean;
  /** Stands between the backfill and the CRM. */
  readonly around?: (connection: Connection) => Partial<Connection>;
}

export interface Fixture {
  readonly emulator: CrmEmulator;
  readonly service: FakeService;
  readonly store: Store;
  readonly deps: BackfillDeps;
  readonly steps: readonly BackfillStep[];
  /** Adds a company by what it holds as its number, and returns its id. */
  add(number: string | number | null, more?: { readonly name?: string; readonly hold?: string }): string;
  /** As the command does it; without `mode` it links what a scan finds. */
  run(options?: Partial<ModeOptions>, signal?: AbortSignal): Promise<BackfillProgress & { readonly ended: Ended }>;
  match(signal?: AbortSignal): Promise<void>;
  link(recordId: string, entity: string): Promise<void>;
  /** `verdict action state` by record id. */
  rows(): Promise<Readonly<Record<string, string>>>;
  /** What is said of a record. */
  note(recordId: string): Promise<string | null | undefined>;
  /** `entity origin trust state` by record id. */
  links(): Promise<Readonly<Record<string, string>>>;
  outcome(): ReturnType<typeof outcomeOf>;
}

export async function startFixture(options: FixtureOptions = {}): Promise<Fixture> {
  const { engine = 'sqlite', crm: name = 'hubspot', clock, connection } = options;
  const emulator =
    options.emulator ??
    (name === 'hubspot' ? await startHubspotEmulator({ rate: 'none' }) : await startSalesforceEmulator());
  onTestFinished(() => emulator.close());
  const service = await serveService();
  const names = NAMES[name];
  const entry = { use: name, ...emulator.settings, match: { property: names.number }, hold: { property: names.hold } };
  const { config } = await checked({
    connector: { webhook: { auth: { method: 'None' } }, providers: { [name]: { ...entry, ...connection } } },
  });
  const [configured] = config.connector?.providers ?? [];
  if (configured === undefined) throw new Error('there is no connection');
  const store = options.store ?? (await newStore(engine));
  const now = clock?.now ?? Date.now;
  const { http, close } = openClient();
  onTestFinished(close);
  const metrics = createMetrics();
  const opened = await openCrm({ store, http, metrics, now }, configured);
  const { connection: real } = opened;
  const crm = { ...opened, connection: { ...real, ...options.around?.(real) } };
  const rateLimiter = upstreamRateLimiter(store, 60_000, now);
  const toService: OutboundHttp = (request) =>
    http(options.isServiceAway?.() === true ? { ...request, url: 'http://127.0.0.1:9/' } : request);
  const upstream = openUpstream({
    baseUrl: service.url,
    accessKey: service.accessKey,
    http: toService,
    rateLimiter,
    metrics,
    now,
  });
  const wakeUp = createWakeUp();
  const steps: BackfillStep[] = [];
  const errors: unknown[] = [];
  const deps: BackfillDeps = {
    store,
    wakeUp,
    crm,
    upstreamRateLimiter: rateLimiter,
    metrics,
    now,
    // A pause goes by at once on a clock that is set by hand, and a short one is not worth a look.
    wait: (ms, signal) => {
      clock?.forward(Math.max(ms, 20_000));
      return pause(clock === undefined ? Math.min(ms, 20) : 1, signal);
    },
    log: { error: (details) => void errors.push(details) },
    leaseMs: 5_000,
    report: (step) => {
      steps.push(step);
      // A clock that is set by hand runs ahead of whoever sleeps by the machine's.
      if (clock !== undefined) wakeUp.ring(MONITORING_QUEUE);
    },
  };
  const stepsUntil = (signal: AbortSignal): BackfillSteps => ({
    ...deps,
    signal,
    carryOut: (id) => carry(id, signal),
  });
  /** Carries a run out as a worker does, but by the fixture's clock; what goes wrong is thrown. */
  async function carry(id: number, signal: AbortSignal) {
    const run = await store.write((tx) => beginRun(tx, BACKFILL, id, now()));
    if (run !== undefined) {
      const { kind, provider, ...asked } = run.input;
      const options = { ...asked, run: id, goesOn: asked.goesOn === true };
      const step = async (_: unknown, also?: (tx: Tx) => Promise<void>) => {
        if (also !== undefined) await store.write(also);
        return true;
      };
      const calls = startConfirming({ ...deps, upstream });
      try {
        if (run.stage === 'preview' && kind === 'apply')
          await backfillWork({ ...deps, wait: pause }, [deps.crm]).work(run, { signal, step });
        else if (kind === 'match') await matchCrm(deps, { ...options, kind: 'scan' }, signal);
        else await runBackfill(deps, { ...options, kind }, signal);
      } finally {
        await calls.stop(15_000);
      }
      await store.write(async (tx) => {
        await endRun(tx, id, null, now());
        await tx.deleteFrom('lane').where('queue', '=', BACKFILL.queue).execute();
      });
    }
    const ended = await findRun(store.db, id);
    if (ended === undefined || !isRunOf(BACKFILL, ended)) throw new Error(`there is no backfill ${id}`);
    return ended;
  }
  const rowsOf = () => store.db.selectFrom('scan').selectAll().orderBy('position').execute();
  return {
    emulator,
    service,
    store,
    deps,
    steps,
    add: (number, { name: called = 'Opdigtet ApS', hold } = {}) =>
      emulator.add({
        [names.name]: called,
        [names.number]: number,
        ...(hold !== undefined && { [names.hold]: hold }),
      }),
    async run(given = {}, signal = new AbortController().signal) {
      const usual = { mode: { kind: 'apply' }, sendUpdate: false, restart: false, meant: false } as const;
      const options: ModeOptions = { ...usual, mayLink: async () => true, ...given };
      const ended = await runMode({ deps, steps: stepsUntil(signal) }, options);
      const run = await readRun(store.db, name);
      if (run === undefined) throw new Error('there is no backfill');
      return { ...run, ended };
    },
    match: (signal = new AbortController().signal) => scan(stepsUntil(signal), { kind: 'match', restart: false }),
    async link(recordId, entity) {
      await store.write((tx) => linkRecord(tx, { provider: name, recordId, entity, sendUpdate: false, now: now() }));
    },
    rows: async () =>
      Object.fromEntries((await rowsOf()).map((row) => [row.record_id, `${row.verdict} ${row.action} ${row.state}`])),
    note: async (recordId) => (await rowsOf()).find((row) => row.record_id === recordId)?.detail,
    links: async () =>
      Object.fromEntries(
        (await store.db.selectFrom('link').selectAll().execute()).map((link) => [
          link.record_id,
          `${link.entity} ${link.origin} ${link.trust} ${link.state}`,
        ]),
      ),
    outcome: () => outcomeOf(store.db, name),
  };
}
