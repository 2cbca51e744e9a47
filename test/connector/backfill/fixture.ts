/** A backfill without its command: an emulated CRM, a store, a monitoring service, and a clock if one is wanted. */
import { onTestFinished } from 'vitest';
import type { CrmEmulator } from '../../../providers/kit/emulator/emulator.ts';
import { startHubspotEmulator } from '../../../providers/kit/hubspot/emulator.ts';
import { startSalesforceEmulator } from '../../../providers/kit/salesforce/emulator.ts';
import type { Connection } from '../../../providers/provider.ts';
import { runBackfill } from '../../../src/connector/backfill/backfill.ts';
import type { BackfillOptions } from '../../../src/connector/backfill/options.ts';
import type { BackfillDeps, BackfillStep } from '../../../src/connector/backfill/rows/backfill-context.ts';
import { outcomeOf } from '../../../src/connector/backfill/rows/outcome.ts';
import type { BackfillProgress } from '../../../src/connector/backfill/rows/progress.ts';
import { openCrm } from '../../../src/connector/crm/crm.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { openUpstream, upstreamRateLimiter } from '../../../src/connector/monitoring/upstream.ts';
import { MONITORING_QUEUE } from '../../../src/connector/names/queues.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import { type OutboundHttp, openClient } from '../../../src/http/outbound/client.ts';
import { pause } from '../../../src/runtime/limits/pause.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import type { Store } from '../../../src/store/store.ts';
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
  run(options?: Partial<BackfillOptions>, signal?: AbortSignal): Promise<BackfillProgress>;
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
    upstream,
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
    run: (given, signal = new AbortController().signal) =>
      runBackfill(deps, { mode: { kind: 'apply' }, sendUpdate: false, restart: false, ...given }, signal),
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
