/** Finds records that people edited in the CRM since the last sync, from the CRM's change hints. */
import { fieldsOf } from '../../../providers/composed.ts';
import type { ChangeHint } from '../../../providers/provider.ts';
import { each } from '../../store/each.ts';
import type { Db } from '../../store/store.ts';
import { changesState } from '../history/history.ts';
import { loadRecords } from './load.ts';
import { type DecidedRecord, decideRecord, type Undecided } from './prepare.ts';

/**
 * The linked records that a sync would remember differently: a new difference, or the end of one. Our own writes and
 * known differences do not count. Parked work stays parked.
 */
export async function editedRecords(
  db: Db,
  undecided: Omit<Undecided, 'records'>,
  changeHints: readonly ChangeHint[],
  now: number,
): Promise<readonly string[]> {
  const { crm } = undecided;
  const seen = new Map(changeHints.flatMap((hint) => (hint.kind === 'seen' ? [[hint.id, hint]] : [])));
  if (seen.size === 0) return [];
  const fields = fieldsOf(crm.mapping);
  const records = await loadRecords(db, { provider: crm.name, ids: [...seen.keys()], fields }, now);
  const edited = records.filter((record) => {
    const read = { kind: 'found', id: record.id, properties: seen.get(record.id)?.properties ?? {} } as const;
    return changesMemory(crm.name, decideRecord(undecided, record, read, now));
  });
  if (edited.length === 0) return [];
  const parked = await db
    .selectFrom('lane')
    .select('key')
    .where('queue', '=', `sync:${crm.name}`)
    .where(
      'key',
      'in',
      each(
        db,
        edited.map(({ id }) => id),
      ),
    )
    .where('parked_at', 'is not', null)
    .execute();
  const parkedIds = new Set(parked.map(({ key }) => key));
  return edited.flatMap(({ id }) => (parkedIds.has(id) ? [] : id));
}

/** A planned write alone does not count: a workflow that changes our values would cause a write at every poll. */
const changesMemory = (provider: string, { record, planned = [] }: DecidedRecord): boolean =>
  planned.some((each) => {
    const known = record.remembered.get(each.property);
    if (each.action === 'set-aside') return known?.refused?.value !== JSON.stringify(each.now);
    return changesState({ provider, id: record.id, entity: record.entity, planned: each }, known);
  });
