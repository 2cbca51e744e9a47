/**
 * check-edits: finds, by the CRM's own history, edits that fell between our read of a record and our write, and has them
 * put back. For a CRM that neither writes on a condition nor says in its answer what a write replaced.
 */
import { isFieldName } from '../../../providers/fields.ts';
import type { Connection, Property, PropertyEdit } from '../../../providers/provider.ts';
import { type Claim, type Settlement, settleAll } from '../../runtime/lanes/lanes.ts';
import type { RateLimiter } from '../../runtime/limits/rate-limiter.ts';
import { each } from '../../store/each.ts';
import type { Db, Store } from '../../store/store.ts';
import type { AbilityGate } from '../crm/ability.ts';
import type { Crm } from '../crm/crm.ts';
import { withReadGuard } from '../crm/send-guard.ts';
import { RETURNED, UNDO } from '../decide/planned.ts';
import { sameFor } from '../decide/same.ts';
import { linksOf } from '../heal/change-hints.ts';
import { type DecidedLine, decidedLines } from '../sync/history-lines.ts';
import { type OverwrittenProperty, rememberOverwritten } from '../sync/overwritten.ts';
import { endHolds } from '../undo/record.ts';
import { CHECK_CALLS } from './check-limiter.ts';
import { LATEST_MS } from './due.ts';
import { lostEdit } from './lost-edit.ts';

export interface CheckDeps {
  readonly store: Store;
  readonly now: () => number;
  readonly gate: AbilityGate;
  /** Slots for the calls of checks: a small share of the account's. */
  readonly limiter: Pick<RateLimiter, 'acquire'>;
}

/** How far the CRM's clock may be off: the history is asked for from so much before the first write. */
const CLOCK_MS = 3_600_000;

/** Checks what was written to these records. As many calls as the CRM takes for the histories of a batch. */
export async function checkEdits(
  { store, now, gate, limiter }: CheckDeps,
  crm: Crm,
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<void> {
  const writes = await readOwnWrites(store.db, crm, claims, await crm.schema(signal));
  if (writes.length === 0) return settleAs(store, claims, () => ({ kind: 'done' }));
  await limiter.acquire(CHECK_CALLS, signal);
  let calls = 0;
  const count = () => {
    calls += 1;
  };
  try {
    const edits = await withReadGuard(count, () => readHistories(crm.connection, writes, signal));
    const lost = writes.flatMap((group) => lostBy(group, edits));
    await store.write(async (tx) => {
      // The hold that an undo left would keep the edit from coming back that it went over.
      await endHolds(
        tx,
        crm.name,
        lost.filter(({ isOverUndo }) => isOverUndo),
      );
      // Before the claims, as a sync takes its lanes before it marks these. Whoever holds them by now: the history says so.
      await rememberOverwritten(
        tx,
        crm.name,
        lost.map(({ edit }) => edit),
        now(),
      );
      await settleAll(
        tx,
        claims.map((claim) => [claim, { kind: 'done' }]),
      );
    });
  } catch (error) {
    signal.throwIfAborted();
    const fault = await gate.settle(error);
    await settleAs(store, claims, fault.of);
  }
  // The first one had its slot before.
  for (let taken = 1; taken < calls; taken += 1) await limiter.acquire(CHECK_CALLS, signal);
}

async function settleAs(store: Store, claims: readonly Claim[], of: (claim: Claim) => Settlement): Promise<void> {
  const settlements = claims.map((claim) => [claim, of(claim)] as const);
  await store.write((tx) => settleAll(tx, settlements));
}

/** Our writes to one property of one record since its last check, oldest first. */
interface OwnWrites {
  readonly id: string;
  readonly property: Property;
  readonly same: ReturnType<typeof sameFor>;
  readonly writes: readonly DecidedLine[];
}

async function readOwnWrites(
  db: Db,
  crm: Crm,
  claims: readonly Claim[],
  schema: ReadonlyMap<string, Property>,
): Promise<readonly OwnWrites[]> {
  const links = await linksOf(
    db,
    crm.name,
    claims.map(({ key }) => key),
  );
  // A lane is due this long after its first write at the latest.
  const since = new Map(
    claims.flatMap(({ key, since: due }) => (links.get(key)?.state === 'active' ? [[key, due - LATEST_MS]] : [])),
  );
  if (since.size === 0) return [];
  const rows = await db
    .selectFrom('history')
    .selectAll()
    .where('provider', '=', crm.name)
    .where('record_id', 'in', each(db, [...since.keys()]))
    .where('outcome', '=', 'written')
    .where('at', '>=', Math.min(...since.values()))
    .orderBy('id')
    .execute();
  const lines = rows.filter(({ record_id, at }) => at >= (since.get(record_id) ?? at)).flatMap(decidedLines);
  return [...Map.groupBy(lines, ({ record_id, property }) => `${record_id} ${property}`).values()].flatMap((group) => {
    const [first] = group;
    const property = schema.get(first?.property ?? '');
    if (first === undefined || property === undefined || !isFieldName(first.field)) return [];
    // What an edit came back for is done with: a person may have decided otherwise since.
    const from = group.findLastIndex(({ rule }) => rule === RETURNED);
    const writes = group.slice(Math.max(0, from));
    return [{ id: first.record_id, property, same: sameFor(first.field, property), writes }];
  });
}

/** The histories by record and property. */
type Histories = ReadonlyMap<string, readonly PropertyEdit[]>;

async function readHistories(
  connection: Connection,
  all: readonly OwnWrites[],
  signal: AbortSignal,
): Promise<Histories> {
  const ids = [...new Set(all.map(({ id }) => id))];
  const properties = [...new Set(all.map(({ property }) => property.name))];
  const since = Math.min(...all.flatMap(({ writes }) => writes.map(({ at }) => at))) - CLOCK_MS;
  const edits = (await connection.edits?.(ids, properties, since, signal)) ?? [];
  return Map.groupBy(edits, ({ id, property }) => `${id} ${property}`);
}

interface Lost {
  readonly id: string;
  readonly property: string;
  readonly edit: OverwrittenProperty;
  readonly isOverUndo: boolean;
}

function lostBy({ id, property: { name }, same, writes }: OwnWrites, histories: Histories): readonly Lost[] {
  const found = lostEdit(writes, histories.get(`${id} ${name}`) ?? [], same);
  if (found === undefined) return [];
  const { value, by, write } = found;
  return [{ id, property: name, edit: { id, property: name, value, by }, isOverUndo: write.rule === UNDO }];
}
