/**
 * check-edits: finds, by the CRM's own history, edits that fell between our read of a record and our write, and has them
 * put back. For a CRM that neither writes on a condition nor says in its answer what a write replaced. Names the editors of
 * differences in the same run.
 */
import { type FieldName, isFieldName } from '../../../providers/fields.ts';
import type { Connection, Property, PropertyEdit } from '../../../providers/provider.ts';
import { type Claim, type Settlement, settleAll } from '../../runtime/lanes/lanes.ts';
import type { RateLimiter } from '../../runtime/limits/rate-limiter.ts';
import { each } from '../../store/each.ts';
import type { Db, Store } from '../../store/store.ts';
import type { AbilityGate } from '../crm/ability.ts';
import type { Crm } from '../crm/crm.ts';
import { withReadGuard } from '../crm/send-guard.ts';
import { type ArePartners, groupOf, partnersIn } from '../decide/partners.ts';
import { ARRIVED, RETURNED, UNDO } from '../decide/planned.ts';
import { sameFor } from '../decide/same.ts';
import { linksOf } from '../follow/change-hints.ts';
import { type DecidedLine, decidedLines } from '../history/history-lines.ts';
import {
  type OverwrittenProperty,
  overwrittenAmong,
  type ReplacedValue,
  rememberOverwritten,
} from '../history/overwritten.ts';
import { endHolds } from '../overrides/override.ts';
import { CHECK_CALLS } from './check-limiter.ts';
import { LATEST_MS } from './due.ts';
import { type LostEdit, lostEdit } from './lost-edit.ts';
import { nameEditors, readUnnamed, rememberEditors } from './name-editors.ts';

export interface CheckDeps {
  readonly store: Store;
  readonly now: () => number;
  readonly gate: AbilityGate;
  /** Slots for the calls of checks: a small share of the account's. */
  readonly limiter: Pick<RateLimiter, 'acquire'>;
}

/** How far the CRM's clock may be off: the history is asked for from so much before the first write. */
const CLOCK_MS = 3_600_000;
/** How long before its row in our history a write may have been sent whose answer was lost: cvrsync may have been down. */
const LATE_MS = 30 * 24 * 3_600_000;

/** Checks what was written to these records. As many calls as the CRM takes for the histories of a batch. */
export async function checkEdits(
  { store, now, gate, limiter }: CheckDeps,
  crm: Crm,
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<void> {
  const schema = await crm.schema(signal);
  const writes = await readOwnWrites(store.db, crm, claims, schema);
  const unnamed = await readUnnamed(
    store.db,
    crm.name,
    claims.map(({ key }) => key),
  );
  if (writes.length + unnamed.length === 0) return settleAs(store, claims, () => ({ kind: 'done' }));
  await limiter.acquire(CHECK_CALLS, signal);
  let calls = 0;
  const count = () => {
    calls += 1;
  };
  try {
    const edits = await withReadGuard(count, () => readHistories(crm.connection, writes, signal));
    const named = await withReadGuard(count, () => nameEditors(crm.connection, unnamed, now(), signal));
    const arePartners = partnersIn(crm.mapping, schema);
    const lost = [...Map.groupBy(writes, ({ id }) => id).values()].flatMap((record) =>
      lostIn(record, edits, arePartners),
    );
    await store.write(async (tx) => {
      // The hold that an undo left would keep the edit from coming back that it went over.
      await endHolds(
        tx,
        crm.name,
        lost.filter(({ isOverUndo }) => isOverUndo).map(({ edit }) => edit),
      );
      // Before the claims, as a sync takes its lanes before it marks these. Whoever holds them by now: the history says so.
      await rememberOverwritten(
        tx,
        crm.name,
        lost.map(({ edit }) => edit),
        now(),
      );
      await rememberEditors(tx, crm.name, named);
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
  readonly field: FieldName;
  readonly property: string;
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
    const definition = schema.get(first?.property ?? '');
    if (first === undefined || definition === undefined || !isFieldName(first.field)) return [];
    const { record_id: id, field, property } = first;
    // What an edit came back for is done with: a person may have decided otherwise since.
    const from = group.findLastIndex(({ rule }) => rule === RETURNED);
    const writes = group.slice(Math.max(0, from));
    return [{ id, field, property, same: sameFor(field, definition), writes }];
  });
}

/** The histories by record and property. */
type Histories = ReadonlyMap<string, readonly PropertyEdit[]>;

async function readHistories(
  connection: Connection,
  all: readonly OwnWrites[],
  signal: AbortSignal,
): Promise<Histories> {
  if (all.length === 0) return new Map();
  const ids = [...new Set(all.map(({ id }) => id))];
  const properties = [...new Set(all.map(({ property }) => property))];
  const since = Math.min(...all.flatMap(({ writes }) => writes.map(sentSince)));
  const edits = (await connection.edits?.(ids, properties, since, signal)) ?? [];
  return Map.groupBy(edits, ({ id, property }) => `${id} ${property}`);
}

/** The earliest time at which the CRM may have taken a write. An undo may recognise at its second try what its first wrote. */
const sentSince = ({ at, rule }: DecidedLine): number => at - (rule === ARRIVED || rule === UNDO ? LATE_MS : CLOCK_MS);

interface Lost {
  readonly edit: OverwrittenProperty;
  readonly isOverUndo: boolean;
}

/** The edits of a record that our writes went over, with what stood beside them in their groups. */
function lostIn(record: readonly OwnWrites[], histories: Histories, arePartners: ArePartners): readonly Lost[] {
  const edits = new Map(
    record.flatMap((own): [OwnWrites, LostEdit<DecidedLine>][] => {
      const edit = lostEdit(own.writes, histories.get(`${own.id} ${own.property}`) ?? [], own.same);
      return edit === undefined ? [] : [[own, edit]];
    }),
  );
  const left = new Set(edits.keys());
  const lost: Lost[] = [];
  for (const first of left) {
    const group = groupOf([first], record, arePartners);
    for (const own of group) left.delete(own);
    const found = group.flatMap((own) => edits.get(own)?.write ?? []);
    // What stood beside the edit, our later writes went over, too.
    const since = Math.min(...found.map(({ at }) => at));
    const replaced = group.flatMap((own) => replacedIn(own, edits.get(own), since));
    const isOverUndo = found.some(({ rule }) => rule === UNDO);
    lost.push(...overwrittenAmong(replaced, arePartners).map((edit) => ({ edit, isOverUndo })));
  }
  return lost;
}

/** The edit of a property, else what our first write since then replaced. */
function replacedIn(
  { id, field, property, writes }: OwnWrites,
  edit: LostEdit<DecidedLine> | undefined,
  since: number,
): readonly ReplacedValue[] {
  if (edit !== undefined) return [{ id, field, property, value: edit.value, by: edit.by, isEdit: true }];
  const [first, last] = [writes.find(({ at }) => at >= since), writes.at(-1)];
  if (first === undefined || last === undefined) return [];
  return [{ id, field, property, value: first.old, by: last.stored ?? last.now, isEdit: false }];
}
