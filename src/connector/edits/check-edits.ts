/**
 * Finds, in the CRM's history, edits that fell between our read and our write, and marks them for a restore. For a CRM
 * without conditional writes whose answers do not state the replaced values. Names the editors of differences in the
 * same run.
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
import { CARRIED } from '../history/history.ts';
import { type DecidedLine, decidedLines } from '../history/history-lines.ts';
import {
  type OverwrittenProperty,
  overwrittenAmong,
  type ReplacedValue,
  rememberOverwritten,
} from '../history/overwritten.ts';
import { endUndoHolds } from '../overrides/override.ts';
import { CHECK_CALLS } from './check-limiter.ts';
import { LATEST_MS } from './due.ts';
import { type LostEdit, lostEdits } from './lost-edit.ts';
import { nameEditors, readUnnamed, rememberEditors } from './name-editors.ts';

export interface CheckDeps {
  readonly store: Store;
  readonly now: () => number;
  readonly gate: AbilityGate;
  readonly limiter: Pick<RateLimiter, 'acquire'>;
}

/** The CRM's clock may differ by this much, so its history is read from before the first write. */
const CLOCK_MS = 3_600_000;
/** A write with a lost answer may have been sent this long before its history row: cvrsync may have been down. */
const LATE_MS = 30 * 24 * 3_600_000;

/** As many calls as the CRM needs for the histories of a batch. */
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
      // The hold of an undo would prevent the restore of the edit that it replaced.
      await endUndoHolds(
        tx,
        crm.name,
        lost.filter(({ isOverUndo }) => isOverUndo).map(({ edit }) => edit),
      );
      // Before the claims: a sync locks its lanes before it marks these. A new owner finds the same in history.
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
  // The first call has its slot already.
  for (let taken = 1; taken < calls; taken += 1) await limiter.acquire(CHECK_CALLS, signal);
}

async function settleAs(store: Store, claims: readonly Claim[], of: (claim: Claim) => Settlement): Promise<void> {
  const settlements = claims.map((claim) => [claim, of(claim)] as const);
  await store.write((tx) => settleAll(tx, settlements));
}

interface OwnWrites {
  readonly id: string;
  readonly field: FieldName;
  readonly property: string;
  readonly same: ReturnType<typeof sameFor>;
  readonly writes: readonly OwnLine[];
}

type OwnLine = DecidedLine & { readonly isCarried: boolean };

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
  // A lane is due at most this long after its first write.
  const since = new Map(
    claims.flatMap(({ key, since: due }) => (links.get(key)?.state === 'active' ? [[key, due - LATEST_MS]] : [])),
  );
  if (since.size === 0) return [];
  const rows = await db
    .selectFrom('history')
    .selectAll()
    .where('provider', '=', crm.name)
    .where('record_id', 'in', each(db, [...since.keys()]))
    .where('outcome', 'in', ['written', CARRIED])
    .where('at', '>=', Math.min(...since.values()))
    .orderBy('id')
    .execute();
  const lines = rows.filter(({ record_id, at }) => at >= (since.get(record_id) ?? at)).flatMap(decidedLines);
  return [...Map.groupBy(lines, ({ record_id, property }) => `${record_id} ${property}`).values()].flatMap((group) => {
    const [first] = group;
    const definition = schema.get(first?.property ?? '');
    if (first === undefined || definition === undefined || !isFieldName(first.field)) return [];
    const { record_id: id, field, property } = first;
    // A restore ends the earlier writes: a person may have decided otherwise since.
    const from = group.findLastIndex(({ rule }) => rule === RETURNED);
    const writes = group.slice(Math.max(0, from)).map((line) => ({ ...line, isCarried: line.outcome === CARRIED }));
    return [{ id, field, property, same: sameFor(field, definition), writes }];
  });
}

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

/**
 * The earliest time at which the CRM may have received a write. The second try of an undo may recognise the writes of
 * its first.
 */
const sentSince = ({ at, rule }: DecidedLine): number => at - (rule === ARRIVED || rule === UNDO ? LATE_MS : CLOCK_MS);

interface LostInGroup {
  readonly edit: OverwrittenProperty;
  readonly isOverUndo: boolean;
}

function lostIn(record: readonly OwnWrites[], histories: Histories, arePartners: ArePartners): readonly LostInGroup[] {
  const searched = record.map((own) => ({ ...own, own, edits: histories.get(`${own.id} ${own.property}`) ?? [] }));
  const edits = new Map(
    [...lostEdits<OwnLine, (typeof searched)[number]>(searched)].map(([{ own }, edit]) => [own, edit]),
  );
  const left = new Set(edits.keys());
  const lost: LostInGroup[] = [];
  for (const first of left) {
    const group = groupOf([first], record, arePartners);
    for (const own of group) left.delete(own);
    const found = group.flatMap((own) => edits.get(own)?.write ?? []);
    // Our later writes also replaced the other values of the group.
    const since = Math.min(...found.map(({ at }) => at));
    const replaced = group.flatMap((own) => replacedIn(own, edits.get(own), since));
    const isOverUndo = found.some(({ rule }) => rule === UNDO);
    lost.push(...overwrittenAmong(replaced, () => arePartners).map((edit) => ({ edit, isOverUndo })));
  }
  return lost;
}

function replacedIn(
  { id, field, property, writes }: OwnWrites,
  edit: LostEdit<OwnLine> | undefined,
  since: number,
): readonly ReplacedValue[] {
  if (edit !== undefined) return [{ id, field, property, value: edit.value, by: edit.by, isEdit: true }];
  const [first, last] = [writes.find(({ at }) => at >= since), writes.at(-1)];
  if (first === undefined || last === undefined) return [];
  return [{ id, field, property, value: first.old, by: last.stored ?? last.now, isEdit: false }];
}
