/** What needs a person: accounts nobody may call, parked work, refused values, links in doubt, what nobody could read. */

import { readOutages, shownOutage } from '../../http/outbound/outage.ts';
import { parked } from '../../runtime/lanes/lane-state.ts';
import { INPUT_QUEUE } from '../../runtime/lanes/poison.ts';
import { needsPerson, readBlocks } from '../../runtime/limits/blocks.ts';
import { countEach } from '../../store/count.ts';
import type { Db } from '../../store/store.ts';
import { isBlank } from '../decide/decide.ts';
import { SAFETY_LIMIT_KEY } from '../follow/safety-limit.ts';
import { type DifferenceFilter, differencesIn } from '../history/difference-rows.ts';
import { type Difference, readDifferences } from '../history/differences.ts';
import { quarantined, readQuarantined } from '../intake/quarantined.ts';
import { readReusedIds } from '../intake/reused-ids.ts';
import { UPSTREAM_ACCOUNT } from '../monitoring/upstream.ts';
import { revisionOf } from '../names/revision.ts';
import { limitRevision } from './entry-revision.ts';
import { MAIL_SOURCE } from './mail-entries.ts';
import { LINK_SOURCES, MATCH_SOURCE, VALUE_SOURCE } from './record-entries.ts';
import {
  DECISION,
  type EntryRange,
  FAILED,
  idOf,
  laneVerbs,
  partsOf,
  REVIEW_KINDS,
  type ReviewEntry,
  type ReviewKind,
  type ReviewSource,
} from './review-kinds.ts';
import { UNREADABLE_SOURCES } from './unreadable-entries.ts';

/** In the order in which they are shown. */
export const SOURCES: readonly ReviewSource[] = [
  { kind: 'account', read: readAccounts },
  {
    kind: 'lane',
    read: (db, _now, limit, part) => readLanes(db, limit, part),
    waiting: (db) => db.selectFrom('lane').select('parked_at as since').where('parked_at', 'is not', null),
  },
  ...LINK_SOURCES,
  MATCH_SOURCE,
  VALUE_SOURCE,
  ...UNREADABLE_SOURCES,
  {
    kind: 'event',
    read: (db, _now, limit, part) => readEvents(db, limit, part),
    waiting: (db) => quarantined(db).select('received_at as since'),
  },
  { kind: 'sender', read: readSenders },
  MAIL_SOURCE,
];

/** To count further takes long, and tells a person no more. */
export const COUNTED = 10_000;

/** A number that was counted up to one more than `most`. */
export const shownCount = (count: number, most = COUNTED): string =>
  count > most ? `more than ${most}` : String(count);

/** Which things are asked for, and how many at most; all of every kind where absent. */
export interface EntryFilter {
  readonly kinds?: readonly ReviewKind[] | undefined;
  /** Of kinds whose entries are each of one connection. */
  readonly provider?: string | undefined;
  readonly limit?: number;
}

const sourcesOf = (kinds: EntryFilter['kinds']): readonly ReviewSource[] =>
  SOURCES.filter(({ kind }) => kinds === undefined || kinds.includes(kind));

/**
 * What needs a person but for differences, which are no fault; accounts first, each kind oldest or by name. Reads indexes of
 * the exceptions only, and no more rows of them than `limit`.
 */
export async function readReview(
  db: Db,
  now: number,
  { kinds, provider, limit = Number.MAX_SAFE_INTEGER }: EntryFilter = {},
): Promise<readonly ReviewEntry[]> {
  let found: readonly ReviewEntry[] = [];
  for (const source of sourcesOf(kinds)) {
    if (found.length >= limit) break;
    found = [...found, ...(await source.read(db, now, limit - found.length, { provider }))];
  }
  return found.slice(0, limit);
}

/** How many things {@link readReview} would list, counted up to `limit`. */
export async function countReview(
  db: Db,
  now: number,
  { kinds, limit = Number.MAX_SAFE_INTEGER }: EntryFilter = {},
): Promise<number> {
  return totalOf(await countSources(db, now, sourcesOf(kinds), { most: limit }), limit);
}

/** How many there are in all, counted up to `most`. */
export const totalOf = (counts: readonly Pick<ReviewCount, 'count'>[], most: number): number =>
  Math.min(
    counts.reduce((sum, { count }) => sum + count, 0),
    most,
  );

/** How many things of one kind need a person. */
export interface ReviewCount {
  readonly kind: ReviewKind;
  readonly count: number;
  /** Since when the oldest waits that was looked at; undefined if that is not known. */
  readonly since: number | undefined;
  /** Whether all were looked at. */
  readonly isOldest: boolean;
}

/**
 * The kinds that need a person, each counted up to `most`, in the order in which they are shown. Reads no entry of a kind of
 * which there may be many, and asks the store once for all of them. `lookedAt`: in how many of each source the oldest is
 * looked for, which takes as long again as to count them.
 */
export async function countByKind(
  db: Db,
  now: number,
  { sources = SOURCES, ...limits }: CountLimits & { readonly sources?: readonly ReviewSource[] },
): Promise<readonly ReviewCount[]> {
  const counts = await countSources(db, now, sources, limits);
  return [...Map.groupBy(counts, ({ kind }) => kind)].flatMap(([kind, each]) => {
    const since = each.flatMap((one) => one.since ?? []);
    const count = totalOf(each, limits.most);
    return count === 0
      ? []
      : [
          {
            kind,
            count,
            since: since.length === 0 ? undefined : Math.min(...since),
            isOldest: each.every((one) => one.isOldest),
          },
        ];
  });
}

interface CountLimits {
  readonly most: number;
  readonly lookedAt?: number;
}

/** How many things each source has, within the limits of {@link countByKind}. */
export async function countSources(
  db: Db,
  now: number,
  sources: readonly ReviewSource[],
  { most, provider, lookedAt = 0 }: CountLimits & { readonly provider?: string | undefined },
): Promise<readonly ReviewCount[]> {
  const counted = await countEach(
    db,
    sources.flatMap(({ waiting }) => waiting?.(db, now, provider) ?? []),
    { most, lookedAt },
  );
  const found: ReviewCount[] = [];
  const next = counted.values();
  for (const { kind, waiting, read } of sources) {
    if (waiting === undefined) {
      const entries = await read(db, now, most, { provider });
      const since = entries.flatMap((entry) => entry.since ?? []);
      found.push({
        kind,
        count: entries.length,
        since: since.length === 0 ? undefined : Math.min(...since),
        isOldest: true,
      });
    } else {
      const { count = 0, least: since } = next.next().value ?? {};
      found.push({ kind, count, since, isOldest: count <= lookedAt });
    }
  }
  return found;
}

/** Differences, which are no fault and come last. */
export const DIFFERENCE_SOURCE: ReviewSource = {
  kind: 'difference',
  read: (db, now, limit, part) => readDifferent(db, now, { provider: part?.provider }, limit),
  waiting: (_db, now, provider) => differencesIn({ provider }, now),
};

/** Sets the gauge of review: every kind, also those of which nothing waits. */
export async function measureReview(
  db: Db,
  gauge: { set(labels: { readonly kind: ReviewKind }, count: number): void },
  now: number,
): Promise<void> {
  const counts = await countByKind(db, now, { most: COUNTED, sources: [...SOURCES, DIFFERENCE_SOURCE] });
  const found = new Map(counts.map(({ kind, count }) => [kind, count]));
  for (const kind of REVIEW_KINDS) gauge.set({ kind }, found.get(kind) ?? 0);
}

/** Names an account for people: one ability of a CRM has an account of its own. */
export function shownAccount(account: string): string {
  if (account === UPSTREAM_ACCOUNT) return 'the monitoring service';
  const [provider = '', ability] = account.split('/');
  return ability === undefined ? provider : `${ability} in ${provider}`;
}

/** So long an outage is no hiccup. */
const LONG_OUTAGE_MS = 10 * 60_000;

/** Short pauses, which a CRM asks for on any day, need nobody. */
async function readAccounts(db: Db, now: number): Promise<readonly ReviewEntry[]> {
  const blocks = (await readBlocks(db, now)).filter(needsPerson);
  const silent = (await readOutages(db, now)).filter(
    ({ account, since }) => now - since > LONG_OUTAGE_MS && !blocks.some((block) => block.account === account),
  );
  const waiting = silent.map(
    (outage): ReviewEntry => ({
      id: idOf('account', outage.account),
      kind: 'account',
      about: outage.account,
      reason: shownOutage(outage),
      since: outage.since,
      advice: 'check whether it is down, and whether this machine can reach it; cvrsync tries again by itself',
      decides: false,
      verbs: [],
    }),
  );
  const paused = blocks.map(
    ({ account, since, until, reason }): ReviewEntry => ({
      id: idOf('account', account),
      kind: 'account',
      about: shownAccount(account),
      reason: `cvrsync does not call it before ${new Date(until).toISOString().slice(0, 19)}Z: ${reason ?? 'no reason stored'}`,
      since,
      advice:
        'correct the cause (cvrsync check names it), and restart the daemon if you changed its configuration; retry calls the account at once',
      decides: false,
      verbs: ['retry'],
    }),
  );
  return [...paused, ...waiting];
}

/** Differences as things that a person may decide. */
export const readDifferent = async (
  db: Db,
  now: number,
  filter: DifferenceFilter,
  limit: number,
): Promise<readonly ReviewEntry[]> => (await readDifferences(db, now, filter, limit)).map(differenceEntry);

/** Whether a value, as JSON, is blank in a CRM. */
export const isBlankValue = (json: string): boolean => isBlank(JSON.parse(json));

/** A difference as a thing that a person may decide. */
export const differenceEntry = (difference: Difference): ReviewEntry => {
  const { provider, recordId, property, entity, crm, register, since, editor } = difference;
  const shown = (value: string): string => (isBlankValue(value) ? 'nothing' : value);
  const clears = isBlankValue(register) ? ': to accept that clears the property' : '';
  const accepting = isBlankValue(register) ? 'accept clears the property' : "accept writes the register's value, once";
  return {
    id: idOf('difference', provider, recordId, property),
    kind: 'difference',
    about: `${provider}:${recordId} ${property}`,
    reason: `the CRM holds ${shown(crm)}, the register says ${shown(register)} of ${entity}${clears}`,
    since,
    advice: `${accepting}; keep leaves the CRM's value and puts the property on hold without an end`,
    decides: true,
    verbs: DECISION,
    revision: revisionOf(crm, register),
    ...(editor !== undefined && { editor }),
  };
};

const limitAdvice = (queue: string): string =>
  queue.startsWith('heal:')
    ? 'accept lets the links end; if the CRM is wrong, repair it first, then keep leaves the links as they are'
    : 'accept publishes that these facts are gone; keep leaves the stored values as they are';

function laneAdvice(queue: string, key: string): string {
  if (key === SAFETY_LIMIT_KEY) return limitAdvice(queue);
  return queue === INPUT_QUEUE
    ? 'report it with this reason; retry has it read again at the next poll of its source, drop leaves it out'
    : 'retry tries it again now; drop gives it up until the next change';
}

async function readLanes(db: Db, limit: number, { after }: EntryRange = {}): Promise<readonly ReviewEntry[]> {
  const [queue = '', last = ''] = partsOf(after) ?? [];
  const place = after && { queue, key: last, parkedAt: after.since ?? 0 };
  return (await parked(db, undefined, limit, place)).map(({ queue, key, error, parkedAt, attempts }) => ({
    id: idOf('lane', queue, key),
    kind: 'lane',
    about: `${queue} ${key}`,
    reason: error ?? `failed ${attempts} times`,
    since: parkedAt,
    advice: laneAdvice(queue, key),
    decides: key === SAFETY_LIMIT_KEY,
    verbs: laneVerbs(key),
    ...(key === SAFETY_LIMIT_KEY && { revision: limitRevision(parkedAt, error) }),
  }));
}

async function readEvents(db: Db, limit: number, { after }: EntryRange = {}): Promise<readonly ReviewEntry[]> {
  return (await readQuarantined(db, limit, Number(partsOf(after)?.[0] ?? 0))).map(
    ({ seq, entity, reason, receivedAt }) => ({
      id: idOf('event', seq),
      kind: 'event',
      about: `event ${seq} of ${entity}`,
      reason,
      since: receivedAt,
      advice: 'retry applies it as of the time it arrived, except for periods that have not begun; drop leaves it out',
      decides: false,
      verbs: FAILED,
    }),
  );
}

async function readSenders(db: Db): Promise<readonly ReviewEntry[]> {
  const reused = await readReusedIds(db);
  if (reused === undefined) return [];
  const { count, since, id, entity, isTaken } = reused;
  const became = isTaken ? 'it was accepted' : 'it was not applied, and its body is quarantined';
  return [
    {
      id: idOf('sender', 'webhook-id'),
      kind: 'sender',
      about: 'the sender of webhooks',
      reason: `it gave different events the same webhook-id, ${count} times; the last was ${id} about ${entity}: ${became}`,
      since,
      advice: 'have the sender give each event an id of its own; drop forgets what was counted',
      decides: false,
      verbs: ['drop'],
    },
  ];
}
