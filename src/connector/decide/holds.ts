/** Until when records are to be left alone, by a property of theirs or by a person's override. */
import type { Read } from '../../../providers/provider.ts';
import type { Db } from '../../store/open.ts';
import type { Crm } from '../crm/crm.ts';
import { holdOf, holdPollMs } from './hold.ts';
import { ALL_PROPERTIES, readOverrides } from './override.ts';

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
  const overrides = await readOverrides(db, crm.name, ids, now);
  const holds = ids.flatMap((id, index): [string, number][] => {
    const read = reads[index];
    const override = overrides.get(id)?.get(ALL_PROPERTIES);
    const ends = [
      ...(override?.kind === 'hold' ? [override.until ?? Number.POSITIVE_INFINITY] : []),
      ...(read?.kind === 'found' ? [holdOf(crm, read.properties, now) ?? []] : []),
    ].flat();
    return ends.length === 0 ? [] : [[id, Math.min(Math.max(...ends), now + holdPollMs(crm))]];
  });
  return new Map(holds);
}

/** Whether a person holds the whole record now: look before you write. */
export async function isHeldByOverride(db: Db, provider: string, id: string, now: number): Promise<boolean> {
  const overrides = (await readOverrides(db, provider, [id], now)).get(id);
  return overrides?.get(ALL_PROPERTIES)?.kind === 'hold';
}
