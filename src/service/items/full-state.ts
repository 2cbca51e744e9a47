/** Sends the full state of a company to the monitor that asked for it with `sendUpdate`. */
import { hash } from 'node:crypto';
import { sql } from 'kysely';
import type { ReportData } from '../../protocol/report.ts';
import { normaliseTime } from '../../protocol/text/time.ts';
import { type Claim, type Settlement, settleAll } from '../../runtime/lanes/lanes.ts';
import type { WakeUp } from '../../runtime/wake-up.ts';
import { each } from '../../store/each.ts';
import type { Db, Store } from '../../store/store.ts';
import { type Change, isCompany } from '../changes/change.ts';
import type { DigestTime } from '../mail/digest-hour.ts';
import { MAIL_QUEUE } from '../mail/queue.ts';
import { DELIVER_QUEUE, readStateKey } from '../names/queues.ts';
import { publish, publishersEnd } from '../publish/publish.ts';
import { stateOf } from '../register/diff/state.ts';
import { type Company, SNAPSHOT_FORM } from '../register/document/company.ts';
import { todayAt } from '../register/document/today.ts';
import { newReportOf } from '../reports/deprecated.ts';
import { latestReports } from '../reports/store-filing.ts';

export interface StateDeps {
  readonly store: Store;
  readonly wakeUp: WakeUp;
  readonly now: () => number;
  readonly placeType: string;
  readonly digest?: DigestTime | undefined;
  readonly beneficialOwners?: boolean;
  /** Whether to also send the deprecated form of the annual report. */
  readonly deprecatedReport?: boolean;
  readonly log: { info(details: object, message: string): void; warn(details: object, message: string): void };
  fetch?(entity: string, signal: AbortSignal): Promise<void>;
}

const PATIENCE_MS = 24 * 3_600_000;
const SHORTEST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 15 * 60_000;

/**
 * Publishes the state of each claim's company to the claim's monitor. Waits up to a day for a company without a
 * snapshot. Sends nothing if the list no longer holds the company.
 */
export async function sendFullStates(deps: StateDeps, claims: readonly Claim[], signal: AbortSignal): Promise<void> {
  const { store, wakeUp, now } = deps;
  await fetchUnknown(deps, claims, signal);
  await publishersEnd(store);
  const dropped = await store.write(async (tx) => {
    const listed = await listedKeys(tx, claims);
    const known = await readFullStates(tx, entitiesOf(claims));
    const reports = await latestReports(tx, entitiesOf(claims));
    const at = now();
    const steps = claims.map((claim) => stepOf(claim, listed, known.get(readStateKey(claim.key).entity), at));
    const held = await settleAll(
      tx,
      steps.map(({ claim, settlement }) => [claim, settlement]),
    );
    const states = steps.flatMap(({ claim, state }) =>
      state && held.has(claim.key) ? [changeOf(claim, state, reports, deps)] : [],
    );
    const { digest, beneficialOwners = false } = deps;
    await publish(
      tx,
      states.filter(({ updates }) => Object.keys(updates).length > 0),
      { now: at, beneficialOwners, digest },
    );
    return steps.filter(({ claim, gaveUp }) => gaveUp && held.has(claim.key)).map(({ claim }) => claim.key);
  });
  for (const queue of [DELIVER_QUEUE, MAIL_QUEUE]) wakeUp.ring(queue);
  for (const key of dropped) {
    const { monitor, entity } = readStateKey(key);
    deps.log.info({ monitor, entity }, 'the register does not have the company: no full state is sent');
  }
}

/** A company's state, and the time of the newest change in it. */
export interface State {
  readonly company: Company;
  readonly timestamp: string;
}

interface Step {
  readonly claim: Claim;
  readonly settlement: Settlement;
  readonly state?: State;
  readonly gaveUp?: boolean;
}

function stepOf(claim: Claim, listed: ReadonlySet<string>, state: State | undefined, now: number): Step {
  const settlement = { kind: 'done' } as const;
  if (!listed.has(claim.key)) return { claim, settlement };
  if (state !== undefined) return { claim, settlement, state };
  const waited = now - claim.since;
  if (waited >= PATIENCE_MS) return { claim, settlement, gaveUp: true };
  const wait = Math.min(Math.max(SHORTEST_WAIT_MS, waited / 4), LONGEST_WAIT_MS);
  return {
    claim,
    settlement: { kind: 'again', at: Math.round(now + wait), error: 'not in the register yet', free: true },
  };
}

async function fetchUnknown({ store, log, ...deps }: StateDeps, claims: readonly Claim[], signal: AbortSignal) {
  if (deps.fetch === undefined) return;
  const [listed, known] = [await listedKeys(store.db, claims), await readFullStates(store.db, entitiesOf(claims))];
  const wanted = claims.filter(({ key }) => listed.has(key)).map(({ key }) => readStateKey(key).entity);
  for (const entity of new Set(wanted)) {
    if (known.has(entity)) continue;
    signal.throwIfAborted();
    try {
      await deps.fetch(entity, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      log.warn({ err: error, entity }, 'could not fetch a company from the register: trying again');
    }
  }
}

async function listedKeys(db: Db, claims: readonly Claim[]): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('item')
    .select(sql<string>`item.monitor || ':' || item.entity`.as('key'))
    .distinct()
    .where('entity', 'in', each(db, entitiesOf(claims)))
    .where('monitor', 'in', each(db, [...new Set(claims.map(({ key }) => readStateKey(key).monitor))]))
    .execute();
  return new Set(rows.map(({ key }) => key));
}

/**
 * The stored states of companies by entity id. One statement reads state and time, so a change that commits right
 * after it has a newer time and wins at the receiver.
 */
export async function readFullStates(db: Db, entities: readonly string[]): Promise<ReadonlyMap<string, State>> {
  const rows = await db
    .selectFrom('snapshot')
    .select(['entity', 'body', 'loaded_at'])
    .select(({ selectFrom }) =>
      selectFrom('change')
        .select(({ fn }) => fn.max('change.timestamp').as('newest'))
        .whereRef('change.entity', '=', 'snapshot.entity')
        .where('change.kind', '=', 'register')
        .as('newest'),
    )
    .where('entity', 'in', each(db, entities))
    .execute();
  const states = new Map<string, State>();
  for (const { entity, body, loaded_at, newest } of rows) {
    const company = readCompany(body);
    if (company === undefined) continue;
    const loaded = normaliseTime(loaded_at) ?? loaded_at;
    const stated = normaliseTime(company.registeredAt ?? '') ?? loaded;
    const registered = stated < loaded ? stated : loaded;
    // A later change may come from a unit or another company, and this document's own next change may be older than
    // that.
    const known = newest === null || newest < loaded ? newest : loaded;
    states.set(entity, { company, timestamp: known !== null && known > registered ? known : registered });
  }
  return states;
}

const entitiesOf = (claims: readonly Claim[]): readonly string[] => [
  ...new Set(claims.map(({ key }) => readStateKey(key).entity).filter(isCompany)),
];

/** Undefined for another kind or version of snapshot: the watcher reads that company again. */
function readCompany(body: string): Company | undefined {
  // Only the watcher writes snapshots; `kind` and `snapshotForm` determine the shape.
  const snapshot = JSON.parse(body) as Company;
  return snapshot.kind === 'company' && snapshot.snapshotForm === SNAPSHOT_FORM ? snapshot : undefined;
}

function changeOf(
  claim: Claim,
  { company, timestamp }: State,
  reports: ReadonlyMap<string, ReportData>,
  { now, placeType, deprecatedReport = false }: StateDeps,
): Change {
  const { monitor, entity } = readStateKey(claim.key);
  const data = reports.get(entity);
  const report = data === undefined ? {} : { newReport: newReportOf(data, deprecatedReport) };
  const today = todayAt(now());
  return {
    // A claim publishes once, in the transaction that settles it.
    id: hash('sha256', `state ${claim.key} ${claim.fence} ${claim.marks}`, 'base64url'),
    entity,
    name: company.name,
    kind: 'state',
    timestamp,
    updates: { ...stateOf(company, { today, placeType, isRecoded: () => false }), ...report },
    only: monitor,
  };
}
