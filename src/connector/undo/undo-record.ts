/** Stores what undo restored: history, and the hold that protects it. */

import { type Selectable, sql } from 'kysely';
import { isFieldName } from '../../../providers/fields.ts';
import { eachRow } from '../../store/each.ts';
import type { OverrideTable } from '../../store/schema.ts';
import type { Tx } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { partnersIn } from '../decide/partners.ts';
import { UNDO } from '../decide/planned.ts';
import { markBlindWrites } from '../edits/due.ts';
import { type Decided, writeHistory } from '../history/history.ts';
import { type OverwrittenProperty, overwrittenAmong, rememberOverwritten } from '../history/overwritten.ts';
import { endUndoHolds, type Placement, placedBy, type RecordProperty } from '../overrides/override.ts';
import { blindWindow } from '../sync/record-result.ts';
import type { Written } from '../write/write.ts';
import { isUndo } from './decide-undo.ts';
import { type Restored, shownOf, type Undone } from './outcome.ts';

const rowsOf = (restored: readonly Restored[]): readonly RecordProperty[] =>
  restored.map(({ last }) => ({ id: last.recordId, property: last.property }));

/** How long an undo holds what it restored, unless a person says otherwise: 30 days, in ms. */
export const UNDO_HOLD_MS = 30 * 86_400_000;

/** Overrides of people that the hold of an undo replaced. */
export type DisplacedOverrides = readonly Selectable<OverrideTable>[];

/**
 * Holds what is about to be restored until a time, or for good (null); an undo that is taken back needs no hold. What a
 * person holds stays theirs, and ends no sooner. Returns what it replaced, for {@link recordRestored}.
 */
export async function holdRestored(
  tx: Tx,
  provider: string,
  restored: readonly Restored[],
  { at, until, by }: { readonly at: number; readonly until: number | null } & Pick<Placement, 'by'>,
): Promise<DisplacedOverrides> {
  const rows = rowsOf(restored.filter(({ last }) => !isUndo(last)));
  if (rows.length === 0) return [];
  const { rows: before } = await sql<Selectable<OverrideTable>>`select * from override
    where provider = ${provider} and (kind = 'release' or until > ${at}) and (record_id, property) in
      (select each.id, each.property from ${eachRow(tx, ['id', 'property'], rows)})`.execute(tx);
  const placed = placedBy({ origin: 'undo', by });
  // A person's hold stays as it was placed.
  const stays = sql`override.kind = 'hold' and override.until > ${at}`;
  const columns = ['reason', 'origin', 'placed_by', 'placed_via'].map((name) => {
    const column = sql.ref(name);
    return sql`${column} = case when ${stays} then override.${column} else excluded.${column} end`;
  });
  await sql`insert into override
      (provider, record_id, property, kind, once, until, reason, created_at, origin, placed_by, placed_via)
    select cast(${provider} as text), each.id, each.property, 'hold', 0, cast(${until} as bigint), null,
      cast(${at} as bigint), ${placed.origin}, cast(${placed.placed_by} as text), cast(${placed.placed_via} as text)
    from ${eachRow(tx, ['id', 'property'], rows)} where true
    on conflict (provider, record_id, property) do update set kind = excluded.kind, once = 0,
      until = case when override.kind = 'hold' and override.until > excluded.until then override.until else excluded.until end,
      ${sql.join(columns)}, created_at = excluded.created_at, seen = null
      where override.kind = 'release' or override.until is not null`.execute(tx);
  return before;
}

/**
 * Writes history of what was restored; ends the holds of what was not, and of undoes that were taken back. Where nothing
 * was restored, the overrides replaced at `heldAt` count again, unless a person set another one since.
 */
export async function recordRestored(
  tx: Tx,
  crm: Pick<Crm, 'name' | 'connection'>,
  results: readonly RestoreResult[],
  { displaced, heldAt, now }: { readonly displaced: DisplacedOverrides; readonly heldAt: number; readonly now: number },
): Promise<void> {
  const { name: provider } = crm;
  const done = results.filter(isRestored);
  await writeHistory(
    tx,
    done.map((each) => rowOf(provider, each)),
    [],
    now,
  );
  const failed = results
    .filter(({ undone }) => undone !== undefined && undone.kind !== 'restored')
    .map(({ restored }) => restored);
  const ended = done.flatMap(({ restored }) => (isUndo(restored.last) ? [restored] : []));
  await endUndoHolds(tx, provider, rowsOf([...failed, ...ended]));
  await markBlind(tx, crm, done, now);
  const keys = new Set(rowsOf(failed).map(({ id, property }) => `${id} ${property}`));
  for (const override of displaced.filter(({ record_id, property }) => keys.has(`${record_id} ${property}`)))
    await tx
      .insertInto('override')
      .values(override)
      .onConflict((conflict) =>
        conflict
          .columns(['provider', 'record_id', 'property'])
          .doUpdateSet(override)
          .where('override.created_at', '=', heldAt),
      )
      .execute();
}

/**
 * Remembers edits that the undo replaced, for the next sync to restore. They count also under a lost lease: only this
 * answer shows them.
 */
export async function rememberReplaced(
  tx: Tx,
  crm: Pick<Crm, 'name' | 'mapping'>,
  results: readonly RestoreResult[],
  now: number,
): Promise<void> {
  const overwritten = overwrittenIn(results.filter(isRestored), crm);
  // The hold would keep the edit from coming back.
  await endUndoHolds(tx, crm.name, overwritten);
  await rememberOverwritten(tx, crm.name, overwritten, now);
}

const isRestored = ({ undone }: RestoreResult): boolean => undone?.kind === 'restored';

/** What became of a property that was to be restored, and of the write to its record. */
export interface RestoreResult {
  readonly restored: Restored;
  /** Undefined if nobody knows. */
  readonly undone: Undone | undefined;
  readonly written: Written | undefined;
}

/**
 * Has records checked for edits that the undo went over, where its answers did not show them: nor did they if a try before
 * this one restored the value, and its answer was lost.
 */
async function markBlind(
  tx: Tx,
  crm: Pick<Crm, 'name' | 'connection'>,
  results: readonly RestoreResult[],
  now: number,
): Promise<void> {
  const records = results.flatMap(({ restored, written }) => {
    const window = restored.isDue ? blindWindow(written) : { from: now, to: now };
    return window === undefined ? [] : [{ id: restored.last.recordId, window }];
  });
  await markBlindWrites(tx, crm, records, now);
}

function overwrittenIn(
  done: readonly RestoreResult[],
  { mapping }: Pick<Crm, 'mapping'>,
): readonly OverwrittenProperty[] {
  const arePartners = partnersIn(mapping, new Map(done.map(({ restored: { property } }) => [property.name, property])));
  const replaced = done
    .filter(({ restored }) => restored.isDue)
    .map(({ restored, written }) => {
      const { recordId: id, field, property } = restored.last;
      return { id, field, property, ...shownOf(restored, written).replaced };
    });
  return [...Map.groupBy(replaced, ({ id }) => id).values()].flatMap((record) =>
    overwrittenAmong(record, () => arePartners),
  );
}

function rowOf(provider: string, { restored, written }: RestoreResult): Decided {
  const { last, isDue, from, sent, seq } = restored;
  const { recordId: id, entity, field, property } = last;
  if (!isFieldName(field)) throw new Error(`${field} is not a field`);
  const what = isUndo(last) ? 'an undo was taken back' : last.seq > 0 ? `event ${last.seq} was taken back` : undefined;
  const found = isDue ? undefined : 'the CRM held it already';
  const detail = [what, found].filter((part) => part !== undefined).join('; ');
  const decision = { field, property, seq, action: 'write', rule: UNDO, old: from, now: sent, detail } as const;
  return { provider, id, entity, planned: decision, ...shownOf(restored, written).written };
}
