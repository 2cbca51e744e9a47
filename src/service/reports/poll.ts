/** One poll of the filing index: new filings, and those due for a retry. */

import type { Metrics } from '../../http/metrics.ts';
import type { OutboundHttp } from '../../http/outbound/client.ts';
import { companyEntityId } from '../../protocol/entity-id.ts';
import { backoff } from '../../runtime/backoff.ts';
import type { Claim } from '../../runtime/lanes/lanes.ts';
import { createInputReader } from '../../runtime/lanes/poison.ts';
import { pause } from '../../runtime/limits/pause.ts';
import { readErasures } from '../../store/erasure/erasures.ts';
import type { Store, Tx } from '../../store/store.ts';
import type { Change } from '../changes/change.ts';
import { advanced, type Cursor, firstCursor, isDeep, readCursor, readFrom, writeCursor } from './cursor.ts';
import { type Filing, readFiling } from './filings.ts';
import { type FoundFiling, readIndex } from './index-client.ts';
import { readFilingDocuments } from './read-filing.ts';
import { reportData } from './report.ts';
import {
  dueFilings,
  type FilingOutcome,
  formerReport,
  knownFilings,
  quarantineFiling,
  retryFilings,
  storeFiling,
} from './store-filing.ts';

export interface ReportsSettings {
  readonly indexUrl: string;
  readonly documentHosts: readonly string[];
  readonly pollSeconds: number;
  readonly deprecatedReport: boolean;
  readonly pageSize?: number;
  /** Ms between two fetched documents; 500 by default. */
  readonly spacingMs?: number;
  /** The most bytes of a document, packed and unpacked; 96 MiB by default. */
  readonly maxBytes?: number;
}

export interface ReportsDeps {
  readonly store: Store;
  readonly http: OutboundHttp;
  readonly now: () => number;
  readonly log: { warn(details: object, message: string): void };
  readonly metrics: Pick<Metrics, 'filings'>;
  readonly settings: ReportsSettings;
  /** Publishes in the transaction that stores the filing. */
  publish(tx: Tx, changes: readonly Change[]): Promise<void>;
  ring(): void;
}

/**
 * After this many failed filings in a row the host counts as down: the poll then postpones the others without a call.
 */
const DOWN_AFTER = 3;
/** The last attempt comes about two days after the first. */
const MAX_ATTEMPTS = 15;
const RETRY = { baseMs: 60_000, capMs: 6 * 3_600_000 };
const RETRIES_A_POLL = 500;
const SPACING_MS = 500;
/** A filing published longer before watching began is old: the index only touched it. */
const OLD_MS = 7 * 86_400_000;

/**
 * Reads the index to its end. The first poll only stores where to begin. Each filing is one transaction with its
 * change and the cursor, so a crash sends nothing twice. Throws `SourceError` if the index cannot be read, and the
 * signal's reason if it aborts.
 */
export async function pollReports(
  deps: ReportsDeps,
  signal: AbortSignal,
  claims: readonly Claim[] = [],
): Promise<void> {
  const { store, now } = deps;
  let cursor = await readCursor(store.db);
  if (cursor === undefined) {
    await store.write((tx) => writeCursor(tx, firstCursor(now()), now()));
    return;
  }
  const visit = await suspiciously(deps, claims, visitor(deps, signal));
  for (const { attempts, record } of await dueFilings(store.db, now(), RETRIES_A_POLL)) {
    const hit: unknown = JSON.parse(record ?? 'null');
    await visit({ hit, filing: readFiling(hit) }, attempts, undefined);
  }
  const oldest = new Date(Date.parse(cursor.since) - OLD_MS).toISOString();
  for await (const page of pagesFrom(deps, readFrom(cursor, now()), signal)) {
    for (const found of await unknownOf(deps, page)) {
      const { filing } = found;
      if ('cvr' in filing) {
        if (filing.publishedAt < oldest) continue;
        cursor = advanced(cursor, filing.updatedAt, now());
      }
      await visit(found, 0, cursor);
    }
  }
  if (!isDeep(cursor, now())) return;
  const deep = { ...cursor, deepAt: now() };
  await store.write((tx) => writeCursor(tx, deep, now()));
}

async function* pagesFrom(
  { settings, http, now }: ReportsDeps,
  from: string,
  signal: AbortSignal,
): AsyncGenerator<readonly FoundFiling[]> {
  let after: readonly unknown[] | undefined;
  for (;;) {
    const page = await readIndex({ ...settings, http, now }, from, after, signal);
    yield page.found;
    // An index that repeats a page would repeat it forever.
    if (page.after === undefined || JSON.stringify(page.after) === JSON.stringify(after)) return;
    after = page.after;
  }
}

/**
 * The filings that are not stored yet, each once. Leaves out those of erased companies: they are never stored, so
 * every poll would fetch them.
 */
async function unknownOf({ store }: ReportsDeps, found: readonly FoundFiling[]): Promise<readonly FoundFiling[]> {
  const erasures = await readErasures(store.db);
  const known = await knownFilings(
    store.db,
    found.flatMap(({ filing }) => filing.id ?? []),
  );
  return found.filter(({ filing }, at) => {
    const { id } = filing;
    const isFirst = found.findIndex((other) => other.filing.id === id) === at;
    const isErased = 'cvr' in filing && erasures.has(companyEntityId(String(filing.cvr)));
    return id !== undefined && isFirst && !known.has(id) && !isErased;
  });
}

type Visit = (found: FoundFiling, attempts: number, cursor: Cursor | undefined) => Promise<void>;

/** Skips filings that crashed the process, until a person retries them. */
async function suspiciously(
  { store, now, log, settings: { deprecatedReport } }: ReportsDeps,
  claims: readonly Claim[],
  visit: Visit,
): Promise<Visit> {
  const retry = (tx: Tx, ids: readonly string[]) => retryFilings(tx, ids, now());
  const inputs = await createInputReader({ store, now, log, claims, source: 'report', retry });
  return async (found, attempts, cursor) => {
    const { filing, hit } = found;
    if (await inputs.read(filing.id ?? '', () => visit(found, attempts, cursor))) return;
    if (!('cvr' in filing)) return;
    const error = 'reading it ended the process: see cvrsync review list';
    const outcome: FilingOutcome = { kind: 'later', error, counts: true, retryAt: null, record: hit };
    await store.write(async (tx) => {
      if (cursor !== undefined) await writeCursor(tx, cursor, now());
      await storeFiling(tx, filing, outcome, { now: now(), deprecatedReport });
    });
  };
}

/** Reads and stores records of the index one by one. Remembers that the documents' host is down. */
function visitor(deps: ReportsDeps, signal: AbortSignal): Visit {
  const { store, now, log, settings } = deps;
  let failures = 0;
  let nextAt = 0;
  const turn = async () => {
    await pause(Math.max(0, nextAt - performance.now()), signal);
    signal.throwIfAborted();
    nextAt = performance.now() + (settings.spacingMs ?? SPACING_MS);
  };
  const { maxBytes } = settings;
  const options = { http: deps.http, hosts: settings.documentHosts, turn, maxBytes };

  const outcomeOf = async (hit: unknown, filing: Filing, attempts: number): Promise<FilingOutcome> => {
    const isDown = failures >= DOWN_AFTER;
    const read = isDown ? DOWN : await readFilingDocuments(options, filing, signal);
    failures = read.later ? failures + 1 : 0;
    if (read.later && attempts + 1 < MAX_ATTEMPTS) {
      const retryAt = now() + backoff(attempts + 1, RETRY);
      return { kind: 'later', error: read.error ?? '', counts: !isDown, retryAt, record: hit };
    }
    const first = reportData(read.documents, filing);
    const former = await formerReport(store.db, filing, first.period?.from?.slice(0, 10) ?? null);
    const data = former === undefined ? first : reportData(read.documents, filing, former);
    return { kind: 'read', data, error: read.error };
  };

  return async ({ hit, filing }, attempts, cursor) => {
    signal.throwIfAborted();
    const outcome = 'cvr' in filing ? await outcomeOf(hit, filing, attempts) : undefined;
    const reason = 'reason' in filing ? filing.reason : outcome?.error;
    if (reason != null)
      log.warn({ filing: filing.id, reason, later: outcome?.kind === 'later' }, 'a filing was not read');
    const isNotified = await store.write((tx) => storeVisit(deps, tx, { filing, outcome, cursor }));
    deps.metrics.filings.inc({ result: isNotified ? 'told' : (outcome?.kind ?? 'set aside') });
    if (isNotified) deps.ring();
  };
}

interface Visited {
  readonly filing: FoundFiling['filing'];
  /** Undefined for a record that is not a filing. */
  readonly outcome: FilingOutcome | undefined;
  /** Where the next poll begins; undefined for the retry of a filing. */
  readonly cursor: Cursor | undefined;
}

/** Stores a record with its change and the cursor; true if it publishes a change. */
async function storeVisit(deps: ReportsDeps, tx: Tx, { filing, outcome, cursor }: Visited): Promise<boolean> {
  const now = deps.now();
  const { deprecatedReport } = deps.settings;
  if (cursor !== undefined) await writeCursor(tx, cursor, now);
  if (!('cvr' in filing)) {
    if (filing.id !== undefined) await quarantineFiling(tx, filing.id, filing.reason);
    return false;
  }
  if (outcome === undefined) return false;
  const change = await storeFiling(tx, filing, outcome, { now, deprecatedReport });
  if (change !== undefined) await deps.publish(tx, [change]);
  return change !== undefined;
}

const DOWN = { documents: [], error: 'the host of the documents could not be reached', later: true } as const;
