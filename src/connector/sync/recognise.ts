/**
 * recognise: what a CRM made of a write whose answer was lost. Nobody knows that value, and it looks like a person's edit:
 * the CRM's own history says who wrote it.
 */
import { type Connection, type PropertyEdit, ProviderError } from '../../../providers/provider.ts';
import type { Planned } from '../decide/planned.ts';
import type { LinkedRecord } from './load.ts';

/** How far the CRM's clock may be off. */
const CLOCK_MS = 3_600_000;

interface Decided {
  readonly record: LinkedRecord;
  readonly planned?: readonly Planned[];
}

/**
 * The records again, with what the CRM made of a pending write where its history says that the value is ours; undefined
 * where nothing is recognised. No call where no pending write's property seems edited; a CRM without a history knows nothing.
 */
export async function recogniseStored(
  { edits: history }: Pick<Connection, 'edits'>,
  decided: readonly Decided[],
  signal: AbortSignal,
): Promise<readonly LinkedRecord[] | undefined> {
  const doubted = decided.flatMap(({ record, planned = [] }) =>
    planned.flatMap((each) => {
      const pending = record.remembered.get(each.property)?.pending.at(-1);
      const isDoubtful = each.rule === 'edited' && each.late === undefined;
      return isDoubtful && pending !== undefined ? [{ record, planned: each, pending }] : [];
    }),
  );
  if (history === undefined || doubted.length === 0) return undefined;
  const ids = [...new Set(doubted.map(({ record }) => record.id))];
  const properties = [...new Set(doubted.map(({ planned }) => planned.property))];
  const since = Math.min(...doubted.map(({ pending }) => pending.from.at)) - CLOCK_MS;
  const edits = await history(ids, properties, since, signal).catch(silentIfRefused);
  const last = new Map(edits.map((edit) => [`${edit.id} ${edit.property}`, edit]));
  const ours = doubted.filter(({ record, planned }) => isOwn(last.get(`${record.id} ${planned.property}`), planned));
  if (ours.length === 0) return undefined;
  const oursOf = Map.groupBy(ours, ({ record }) => record);
  return decided.map(({ record }) => {
    const own = oursOf.get(record);
    return own === undefined
      ? record
      : withStored(
          record,
          own.map(({ planned }) => planned),
        );
  });
}

/** These credentials may not read it: then it knows nothing. */
function silentIfRefused(error: unknown): readonly PropertyEdit[] {
  if (error instanceof ProviderError && error.fault === 'refused') return [];
  throw error;
}

/**
 * Whether the newest edit is ours and left what the record was read with. An edit without a value is of the record as a
 * whole: it may be a write of ours to other properties, and a person's value beside it would be overwritten.
 */
const isOwn = (edit: PropertyEdit | undefined, { old }: Planned): boolean => edit?.own === true && edit.value === old;

function withStored(record: LinkedRecord, planned: readonly Planned[]): LinkedRecord {
  const remembered = new Map(record.remembered);
  for (const { property, old } of planned) {
    const memory = remembered.get(property);
    const newest = memory?.pending.at(-1);
    if (memory === undefined || newest === undefined) continue;
    remembered.set(property, { ...memory, pending: [...memory.pending.slice(0, -1), { ...newest, stored: old }] });
  }
  return { ...record, remembered };
}
