/** Until when records are on hold, by a property of theirs or by a person's override. */
import type { Read } from '../../../providers/provider.ts';
import type { Db } from '../../store/open.ts';
import { ALL_PROPERTIES, readOverrides } from '../overrides/override.ts';
import type { Crm } from './crm.ts';
import { holdOf, holdPollMs } from './hold.ts';

/** Where holds come from: people's overrides in the store, and a property in the CRM. */
export interface HoldSource {
  readonly db: Db;
  readonly crm: Crm;
}

/**
 * When to check each of these records that is on hold again, in ms since 1970. `reads` are the records in the same order,
 * with their hold property if there is one.
 */
export async function holdsOf(
  { db, crm }: HoldSource,
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

/** Whether a person's override holds the whole record now. Check it right before a write. */
export async function isHeldByOverride(db: Db, provider: string, id: string, now: number): Promise<boolean> {
  const overrides = (await readOverrides(db, provider, [id], now)).get(id);
  return overrides?.get(ALL_PROPERTIES)?.kind === 'hold';
}
