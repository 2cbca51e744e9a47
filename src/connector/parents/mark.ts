/**
 * Marks records whose parents may be outdated: owners changed, a record or its owner was linked, or parents were
 * switched on.
 */

import type { FieldName } from '../../../providers/fields.ts';
import { mark } from '../../runtime/lanes/lanes.ts';
import { each } from '../../store/each.ts';
import { writeValue } from '../../store/kv.ts';
import type { Tx } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { markAll, stopMarking } from '../links/mark-all.ts';
import { parentQueue } from '../names/queues.ts';

export type ParentSettings = Pick<Crm, 'name' | 'parent'> & { readonly connection: Pick<Crm['connection'], 'parents'> };

export const assignsParents = ({ parent, connection }: ParentSettings): boolean =>
  parent && connection.parents !== undefined;

export function parentConnections(crms: readonly ParentSettings[]): ReadonlySet<string> | undefined {
  const names = crms.filter(assignsParents).map(({ name }) => name);
  return names.length === 0 ? undefined : new Set(names);
}

interface AppliedEvents {
  readonly entities: ReadonlySet<string>;
  readonly changedFields: ReadonlyMap<string, ReadonlySet<FieldName>>;
}

/**
 * Marks records of these companies with outdated parents, and records owned by one of them; returns the queues with
 * work. A link that begins or ends runs its company's `apply`, so this finds it.
 */
export async function markParents(
  tx: Tx,
  providers: ReadonlySet<string>,
  { entities, changedFields }: AppliedEvents,
  now: number,
): Promise<ReadonlySet<string>> {
  const links = await tx
    .selectFrom('link')
    .leftJoin('parent', (join) =>
      join.onRef('parent.provider', '=', 'link.provider').onRef('parent.record_id', '=', 'link.record_id'),
    )
    .select(['link.provider', 'link.record_id', 'link.entity', 'parent.record_id as known'])
    .where('link.entity', 'in', each(tx, [...entities]))
    .where('link.provider', 'in', each(tx, [...providers]))
    .where('link.state', '=', 'active')
    .execute();
  // Without an event, `apply` runs for a new link, perhaps of a record that was linked before.
  const isNew = (entity: string, known: string | null): boolean => known === null || !changedFields.has(entity);
  const fresh = links.filter(({ entity, known }) => isNew(entity, known));
  const children = await readChildren(tx, providers, new Set(fresh.map(({ entity }) => entity)));
  const changed = links.filter(({ entity }) => changedFields.get(entity)?.has('owners') === true);
  const byQueue = Map.groupBy([...fresh, ...children, ...changed], ({ provider }) => parentQueue(provider));
  for (const queue of [...byQueue.keys()].sort()) {
    const ids = (byQueue.get(queue) ?? []).map((row) => row.record_id);
    await mark(tx, queue, ids, now);
  }
  return new Set(byQueue.keys());
}

/** Records whose companies are owned by one of these. */
export async function readChildren(tx: Tx, providers: ReadonlySet<string>, owners: ReadonlySet<string>) {
  if (owners.size === 0) return [];
  return tx
    .selectFrom('parent')
    .select(['provider', 'record_id'])
    .where('owner', 'in', each(tx, [...owners]))
    .where('provider', 'in', each(tx, [...providers]))
    .execute();
}

const parentsKey = (name: string): string => `parents:${name}`;

/**
 * At start: marks all active records of connections that newly assign parents, and stops the work of those that no
 * longer do.
 */
export async function markReparented(tx: Tx, crms: readonly ParentSettings[], now: number): Promise<void> {
  for (const crm of crms) {
    const key = parentsKey(crm.name);
    const known = await tx.selectFrom('kv').select('key').where('key', '=', key).executeTakeFirst();
    if (!assignsParents(crm)) {
      await tx.deleteFrom('kv').where('key', '=', key).execute();
      await stopMarking(tx, parentQueue(crm.name));
      await tx.deleteFrom('lane').where('queue', '=', parentQueue(crm.name)).execute();
      continue;
    }
    if (known !== undefined) continue;
    await markAll(tx, crm.name, parentQueue(crm.name), now);
    await writeValue(tx, key, 'on', now);
  }
}
