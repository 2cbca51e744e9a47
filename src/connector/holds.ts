/** Until when records are to be left alone, by a property of theirs or by a person's ruling. */
import type { Read } from '../../providers/provider.ts';
import type { Db } from '../store/open.ts';
import type { Crm } from './crm.ts';
import { holdLookMs, holdOf } from './hold.ts';
import { ALL_PROPERTIES, readRulings } from './ruling.ts';

/** When to look again at each of these records that is on hold, in ms since 1970. One call where a hold property is set. */
export async function readHolds(
  db: Db,
  crm: Crm,
  ids: readonly string[],
  now: number,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const reads = crm.hold === undefined ? [] : await crm.connection.read(ids, [crm.hold], signal);
  return holdsOf(db, crm, ids, reads, now);
}

/** The same of records that were read, with their hold property where there is one. */
export async function holdsOf(
  db: Db,
  crm: Crm,
  ids: readonly string[],
  reads: readonly Read[],
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const rulings = await readRulings(db, crm.name, ids, now);
  const holds = ids.flatMap((id, index): [string, number][] => {
    const read = reads[index];
    const ruling = rulings.get(id)?.get(ALL_PROPERTIES);
    const ends = [
      ...(ruling?.kind === 'hold' ? [ruling.until ?? Number.POSITIVE_INFINITY] : []),
      ...(read?.kind === 'found' ? [holdOf(crm, read.properties, now) ?? []] : []),
    ].flat();
    return ends.length === 0 ? [] : [[id, Math.min(Math.max(...ends), now + holdLookMs(crm))]];
  });
  return new Map(holds);
}

/** Whether a person holds the whole record now: look before you write. */
export async function isHeldByRuling(db: Db, provider: string, id: string, now: number): Promise<boolean> {
  const rulings = (await readRulings(db, provider, [id], now)).get(id);
  return rulings?.get(ALL_PROPERTIES)?.kind === 'hold';
}
