/**
 * Ingests documents and publishes changes. A page is one transaction: snapshots, changes with everything that follows
 * from them, and the settlement of its lane.
 */

import type { Metrics } from '../../../http/metrics.ts';
import { isJsonObject } from '../../../protocol/text/json.ts';
import { mark } from '../../../runtime/lanes/lanes.ts';
import type { Claim } from '../../../runtime/lanes/settlement.ts';
import type { WakeUp } from '../../../runtime/wake-up.ts';
import { type Erasures, readErasures } from '../../../store/erasure/erasures.ts';
import { setAside } from '../../../store/erasure/quarantine.ts';
import { readValue, writeValue } from '../../../store/kv.ts';
import type { Db, Store, Tx } from '../../../store/store.ts';
import { describeSpan } from '../../../telemetry/trace.ts';
import { DELIVER_QUEUE } from '../../names/queues.ts';
import { type PublishOptions, publish } from '../../publish/publish.ts';
import { storeMergerParties } from '../diff/merger-parties.ts';
import { createRecodingGuard } from '../diff/recoding.ts';
import type { Family } from '../document/families.ts';
import { todayAt } from '../document/today.ts';
import type { Origin, UnreadableDocument } from '../source/source.ts';
import { type FoundInPage, findChanges } from './find-changes.ts';
import { findSteps, type PageCounts } from './find-steps.ts';
import { indexSnapshots } from './index-entry.ts';
import { readOrigins } from './origins/origins.ts';
import { dropSeconds, type SecondReading, storeSeconds } from './origins/second-readings.ts';
import { type PageLook, readDocuments } from './read-page.ts';
import { limitLosses } from './safety-limit.ts';
import { areUntouched, type KnownSnapshot, readKnown, storeRows } from './snapshots.ts';
import { documentInput, documentReader, documentStart } from './suspect-documents.ts';
import { readWithheld, storeWithheld } from './withheld.ts';

export interface WatchDeps {
  readonly store: Store;
  readonly wakeUp: WakeUp;
  readonly now: () => number;
  readonly metrics: Metrics;
  readonly log: {
    info(details: object, message: string): void;
    warn(details: object, message: string): void;
    error(details: object, message: string): void;
  };
  readonly placeType: string;
  /** Whether mass changes of industry codes count as a recoding. */
  readonly recodingGuard: boolean;
  readonly beneficialOwners?: boolean;
  /** The origins of the configured sources, the leading one first; that of the page by default. */
  readonly origins?: readonly Origin[];
  /** How many days a company counts as new; 30 by default. */
  readonly newWithinDays?: number;
  readonly publish?: Omit<PublishOptions, 'now' | 'beneficialOwners'>;
}

export const WATCH_QUEUE = 'watch';
/** The lane that rereads documents when a date in them comes. */
export const AHEAD = 'ahead';
/** The lane that compares the register's count with the stored documents. */
export const COUNT = 'count';

const RECODING_KEY = 'recoding';
const ORIGINS_KEY = 'register-origins';
/** The unreadable documents of a page to quarantine; others are only counted. */
const MOST_QUARANTINED = 20;
const BREATH_MS = 5;

export interface PageIntake {
  readonly claims: readonly Claim[];
  /** Settles the lane and stores the cursor, first in the transaction. */
  readonly begin: (tx: Tx) => Promise<void>;
  readonly broken: readonly UnreadableDocument[];
  readonly again?: true;
  readonly families: readonly Family[];
  readonly origin: Origin;
}

/**
 * Ingests documents in one transaction. If an earlier run crashed, ingests each document alone, and settles the page
 * after them.
 */
export async function ingestPage(deps: WatchDeps, documents: Iterable<unknown>, intake: PageIntake): Promise<void> {
  const inputs = await documentReader(deps, intake.claims);
  if (inputs.readsAll) return ingestTogether(deps, documents, intake);
  const together: unknown[] = [];
  const alone = { ...intake, broken: [], begin: async () => {} };
  for (const document of documents) {
    if (!inputs.isSuspicious && !inputs.hasQuarantined(documentStart(document))) together.push(document);
    else
      await inputs.read(documentInput(document), async () => {
        if (inputs.isSuspicious) await ingestTogether(deps, [document], alone);
        else together.push(document);
      });
  }
  await ingestTogether(deps, together, intake);
}

async function ingestTogether(deps: WatchDeps, documents: Iterable<unknown>, intake: PageIntake): Promise<void> {
  const { store, now } = deps;
  const { beneficialOwners = false } = deps;
  const breathe = breather();
  const today = todayAt(now());
  const { origin, families } = intake;
  const order = deps.origins ?? [origin];
  const filledBy = await readFilledBy(store.db);
  const {
    looks: read,
    unreadable,
    persons,
  } = await readDocuments(documents, {
    today,
    breathe,
    families,
    beneficialOwners,
    again: intake.again,
    keepsDocuments: [...order, ...filledBy].some((each) => each !== origin),
  });
  describeSpan({ 'cvrsync.documents': read.length });
  for (let tries = 1; ; tries++) {
    const erasures = await readErasures(store.db);
    const looks = withoutErasedNames(read, erasures);
    const entities = [...new Set(looks.map(({ row }) => row.entity))];
    const known = await readKnown(store.db, entities);
    const { steps, counts, seconds, leading } = await findSteps(looks, known, {
      now: now(),
      breathe,
      beneficialOwners,
      again: intake.again,
      ...{ origin, order, families },
    });
    const losses = await readWithheld(store.db, now());
    const holds = losses.isOpen ? Object.keys(losses.asked) : [];
    const limited = losses.isAllowed ? { steps, tallies: {}, withheld: [] } : limitLosses(steps, losses.tallies, holds);
    const guard = createRecodingGuard({ enabled: deps.recodingGuard, counts: await readCounts(store) });
    const { placeType, newWithinDays } = deps;
    const found = await findChanges(store.db, limited.steps, {
      today,
      placeType,
      guard,
      breathe,
      newWithinDays,
    });
    const broken = [...intake.broken, ...unreadable, ...found.broken];
    const count = (tx: Tx) => storeWithheld(tx, losses, limited, now());
    const unread = limited.steps.flatMap((step) => step.unread);
    const page = {
      found,
      known,
      erasures,
      ...{ seconds, leading },
      isNewOrigin: !filledBy.includes(origin),
      unusable: [...broken, ...unread],
      count,
      recoding: JSON.stringify(guard.counts()),
      breathe,
    };
    if (await commit(deps, intake, page)) {
      countAndLog(deps, found, { ...counts, person: persons, unreadable: broken.length }, broken);
      return;
    }
    if (tries === 5) throw new Error('others keep changing the snapshots of this page');
  }
}

interface Page {
  readonly found: FoundInPage;
  readonly known: ReadonlyMap<string, KnownSnapshot>;
  readonly seconds: readonly SecondReading[];
  readonly leading: readonly string[];
  readonly isNewOrigin: boolean;
  readonly erasures: Erasures;
  readonly unusable: readonly UnreadableDocument[];
  readonly recoding: string;
  readonly count: (tx: Tx) => Promise<void>;
  readonly breathe: () => Promise<void>;
}

/** A production unit may come after the erasure of its company. */
const isErased = ({ snapshot, row }: PageLook, erasures: Erasures): boolean =>
  erasures.has(row.entity) || (snapshot.kind === 'unit' && erasures.has(snapshot.company.value ?? ''));

/** Drops documents about an erased entity, and removes erased entities from others. */
const withoutErasedNames = (looks: readonly PageLook[], erasures: Erasures): readonly PageLook[] =>
  erasures.version === ''
    ? looks
    : looks
        .filter((look) => !isErased(look, erasures))
        .map(({ snapshot, row, history, ...look }) => ({
          ...look,
          snapshot: erasures.redact(snapshot),
          ...(history && { history: { ...history, on: (day: string) => erasures.redact(history.on(day)) } }),
          row: { ...row, ahead: row.ahead && JSON.stringify(erasures.redact(JSON.parse(row.ahead))) },
        }));

/** False, with nothing stored, if a snapshot changed since it was read, or an erasure was added. */
async function commit(deps: WatchDeps, { begin, origin }: PageIntake, page: Page): Promise<boolean> {
  const { store, now } = deps;
  const { found, known, seconds, erasures, unusable, recoding, count, breathe } = page;
  const { rows, changes, companies } = found;
  const ahead = [...rows, ...seconds].reduce(
    (first, { ahead_at }) => Math.min(first, ahead_at ?? first),
    Number.POSITIVE_INFINITY,
  );
  try {
    await store.write(async (tx) => {
      await begin(tx);
      if (ahead < Number.POSITIVE_INFINITY) await mark(tx, WATCH_QUEUE, [AHEAD], ahead);
      const entities = [...new Set([...rows, ...seconds].map(({ entity }) => entity))];
      if ((await readErasures(tx)).version !== erasures.version) throw new Touched();
      if (!(await areUntouched(tx, entities, known))) throw new Touched();
      await storeRows(tx, rows, now(), breathe);
      await dropSeconds(tx, origin, page.leading);
      await storeSeconds(tx, seconds);
      if (page.isNewOrigin) await addFilledBy(tx, origin, now());
      await storeMergerParties(tx, companies);
      await indexSnapshots(tx, rows, now());
      await count(tx);
      if (recoding !== '{}') await writeValue(tx, RECODING_KEY, recoding, now());
      for (const { where, reason, text } of unusable.slice(0, MOST_QUARANTINED))
        await setAside(tx, { source: 'register', subject: where, reason, body: Buffer.from(text), now: now() });
      // On disk before a worker sees it: a webhook about a change that a power cut takes back would stay wrong forever.
      await publish(tx, changes, publishing(deps));
    });
    return true;
  } catch (error) {
    if (error instanceof Touched) return false;
    throw error;
  }
}

/** The origins that ever filled the store: documents may have to take over from them. */
async function readFilledBy(db: Db): Promise<readonly Origin[]> {
  return readOrigins((await readValue(db, ORIGINS_KEY)) ?? '');
}

async function addFilledBy(tx: Tx, origin: Origin, now: number): Promise<void> {
  const filledBy = new Set([...(await readFilledBy(tx)), origin]);
  await writeValue(tx, ORIGINS_KEY, [...filledBy].join(' '), now);
}

class Touched extends Error {}

export const publishing = ({ publish: how, beneficialOwners = false, now }: WatchDeps): PublishOptions => ({
  ...how,
  beneficialOwners,
  now: now(),
});

function countAndLog(
  { wakeUp, metrics, log }: WatchDeps,
  found: FoundInPage,
  counts: PageCounts,
  broken: readonly UnreadableDocument[],
): void {
  if (found.changes.length > 0) for (const queue of [DELIVER_QUEUE, 'mail']) wakeUp.ring(queue);
  for (const [result, count] of Object.entries(counts)) if (count > 0) metrics.documents.inc({ result }, count);
  for (const { updates } of found.changes) for (const event of Object.keys(updates)) metrics.changes.inc({ event });
  if (broken.length === 0) return;
  const shown = broken.slice(0, 5).map(({ where, reason }) => `${where}: ${reason}`);
  log.warn({ documents: broken.length, first: shown }, 'register documents were quarantined: they cannot be read');
}

async function readCounts({ db }: Store): Promise<Readonly<Record<string, number>>> {
  const json: unknown = JSON.parse((await readValue(db, RECODING_KEY)) ?? '{}');
  const entries = Object.entries(isJsonObject(json) ? json : {});
  return Object.fromEntries(entries.filter((entry): entry is [string, number] => typeof entry[1] === 'number'));
}

/** Yields the thread after some busy milliseconds, so that webhooks are answered. */
function breather(): () => Promise<void> {
  let last = performance.now();
  return async () => {
    if (performance.now() - last < BREATH_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    last = performance.now();
  };
}
