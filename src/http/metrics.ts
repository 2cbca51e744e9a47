/** All metrics. Labels have few values, independent of input from outside. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { createGauges } from './gauges.ts';

/** Distinct unknown names that a label takes; further ones become `other`. */
const MAX_NAMES = 50;
const MAX_NAME_LENGTH = 64;

/** Totals that prom-client names like counters, though they are gauges; the gauges by type cover them. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter({ name: `cvrsync_${name}`, help, labelNames, registers });
  const gauges = createGauges(registry);
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    gauges.gauge(`cvrsync_${name}`, help, labelNames);
  const histogram = <L extends string>(name: string, help: string, buckets: number[], labelNames: readonly L[] = []) =>
    new Histogram({ name: `cvrsync_${name}`, help, buckets, labelNames, registers });

  const unknownEvents = counter('unknown_events_total', 'Entries of events that are not known; kept.', ['event']);
  const malformedEntries = counter('malformed_entries_total', 'Entries that could not be read; quarantined.', [
    'event',
  ]);
  const unknownLabel = capped();
  const malformedLabel = capped();

  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 50 });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  return {
    registry,
    measureBy: gauges.measureBy,
    unproven: counter('unproven_requests_total', 'Requests answered 401, by route.', ['route']),
    turnedAway: counter('turned_away_total', 'Connections and bodies refused at a limit.', ['what']),
    webhooksReceived: counter('webhooks_received_total', 'Webhooks by answer.', ['result']),
    webhookAckSeconds: histogram(
      'webhook_ack_duration_seconds',
      'From the complete request to its answer.',
      [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    ),
    commitBatchSize: histogram('commit_batch_size', 'Webhooks stored by one transaction.', [1, 2, 4, 8, 16, 32, 64]),
    backlog: gauge('backlog', 'Accepted webhooks that are not applied yet.'),
    oldestPendingSeconds: gauge('oldest_pending_seconds', 'Age of the oldest work that is due and not done.'),
    lanes: gauge('work_items', 'Lanes by queue and state.', ['queue', 'state']),
    attempts: counter('work_runs_total', 'Runs of lanes by result.', ['queue', 'result']),
    crmCalls: counter('crm_calls_total', 'Calls to a CRM by status, or by fault without an answer.', [
      'provider',
      'code',
    ]),
    crmRequestSeconds: histogram(
      'crm_request_duration_seconds',
      'Calls to a CRM, up to the complete answer.',
      [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      ['provider'],
    ),
    readToWriteSeconds: histogram(
      'read_to_write_seconds',
      'From the start of a read of CRM records to the answer to their write: an edit in between may be lost.',
      [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      ['provider'],
    ),
    editsPutBack: counter('edits_put_back_total', 'Edits of people that a write replaced and cvrsync restored.', [
      'provider',
    ]),
    rereads: counter(
      'rereads_total',
      'Batches read again before their write, which waited too long or followed a refused or divided call.',
      ['provider'],
    ),
    dividedCalls: counter('divided_calls_total', 'Calls that a CRM refused as a whole, and that were divided.', [
      'provider',
    ]),
    accountPaused: gauge('account_paused', '1 while calls to the account are paused.', ['provider']),
    records: counter('record_syncs_total', 'Records by outcome of their write.', ['provider', 'outcome']),
    linkChanges: counter('link_changes_total', 'Links that followed a change of their CRM record, by outcome.', [
      'provider',
      'decision',
    ]),
    linksEnded: counter(
      'links_ended_total',
      'Links that ended because their records were deleted or lost their number.',
      ['provider'],
    ),
    linkEndsStopped: gauge('link_ends_stopped', '1 while the safety limit stops links from ending.', ['provider']),
    reviewItems: gauge('review_items', 'Review entries by kind, each counted up to 10,000.', ['kind']),
    crmWebhooks: counter('crm_webhooks_total', 'Webhooks from the CRMs by answer.', ['provider', 'result']),
    decisions: counter('decisions_total', 'Properties by the rule that decided.', ['provider', 'rule']),
    dedupeHits: counter('dedupe_hits_total', 'Repeated webhooks.'),
    idsReused: counter('webhook_ids_reused_total', 'Webhooks with the webhook-id of another event.'),
    staleEvents: counter('stale_events_total', 'Entries older than what is known; recorded, not applied.'),
    eventsAhead: counter('events_ahead_total', 'Events quarantined because they are dated ahead of our clock.'),
    slowEvents: counter('slow_events_total', 'Events that took more than two seconds of CPU to read.'),
    poisonEvents: counter('poison_events_total', 'Events quarantined because reading them ended or froze the process.'),
    /** Set by the store watch, because it must be right during an outage of the store. */
    storeUp: new Gauge({
      name: 'cvrsync_store_up',
      help: '1 while the store accepts writes, 0 while it does not.',
      registers,
    }),
    walBytes: gauge('wal_bytes', "Size of the store's write-ahead log."),
    diskFreeBytes: gauge('disk_free_bytes', 'Free space on the disk of the store.'),
    backupAgeSeconds: gauge('backup_age_seconds', 'Age of the newest copy of the store, or of the daemon without one.'),
    backupIntervalSeconds: gauge('backup_interval_seconds', 'Configured time between two copies of the store.'),
    storeGaps: gauge('store_gaps', 'Periods whose writes the store lost, until full updates are requested.'),
    differingDaemons: gauge(
      'differing_daemons',
      'Other daemons on the store whose configuration differs from the one of this daemon.',
    ),
    rolesMissing: gauge('roles_missing', '1 for a required role that no running daemon of the store has.', ['role']),
    leaseLost: counter('lease_lost_total', 'Runs that lost their lease to another process before they ended.'),
    sentAfterLeaseLost: counter(
      'sent_after_lease_lost_total',
      'Writes sent under a lost lease; their records are read again and repaired.',
      ['queue'],
    ),
    mails: counter('mails_total', 'Mails handed to the mail server, by result.', ['result']),
    articles: counter('articles_total', 'Notices and press releases read, by result.', ['source', 'result']),
    upstreamCalls: counter('upstream_calls_total', 'Calls to the monitoring service by status or fault.', ['code']),
    deliveryAttempts: counter('delivery_attempts_total', 'Posts to webhooks by result.', ['result']),
    deliverySeconds: histogram(
      'delivery_seconds',
      'From a change to the answer of the webhook that accepted it.',
      [0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600, 3_600, 86_400],
    ),
    documents: counter('register_documents_total', 'Register documents by result.', ['result']),
    filings: counter('filings_total', 'Filings of annual reports by result.', ['result']),
    changes: counter('changes_total', 'Changes found in the register, by event.', ['event']),
    registerCount: gauge('register_size', 'Documents that the register counts, and documents that are stored.', [
      'part',
      'where',
    ]),
    registerSourceLagSeconds: gauge(
      'register_source_lag_seconds',
      'How far behind each source of the register is read; 0 if nothing waits.',
      ['source'],
    ),
    registerDifferences: gauge(
      'register_differences',
      'Companies and production units for which a source has differed from the leading one for hours.',
      ['source', 'event'],
    ),
    registerLagSeconds: gauge('register_lag_seconds', 'How far behind the register is read; 0 if nothing waits.'),
    countUnknownEvent: (event: string): void => unknownEvents.inc({ event: unknownLabel(event) }),
    countMalformedEntry: (event: string): void => malformedEntries.inc({ event: malformedLabel(event) }),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;

const capped = (): ((name: string) => string) => {
  const names = new Set<string>();
  return (given) => {
    const name = given.slice(0, MAX_NAME_LENGTH);
    if (names.has(name)) return name;
    if (names.size >= MAX_NAMES) return 'other';
    names.add(name);
    return name;
  };
};
