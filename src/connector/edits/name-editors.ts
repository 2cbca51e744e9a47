/** Finds out in the CRM's history who wrote the values of differences. */
import { sql } from 'kysely';
import type { Connection, PropertyEdit } from '../../../providers/provider.ts';
import { each as eachOf, eachRow } from '../../store/each.ts';
import type { Db, Tx } from '../../store/store.ts';

const LOOK_BACK_MS = 90 * 24 * 3_600_000;

interface UnnamedDifference {
  readonly id: string;
  readonly property: string;
  readonly kept: string;
}

/** The editor as JSON; `null` if the CRM does not report one. */
interface NamedDifference extends UnnamedDifference {
  readonly editor: string;
}

export async function readUnnamed(
  db: Db,
  provider: string,
  ids: readonly string[],
): Promise<readonly UnnamedDifference[]> {
  const rows = await db
    .selectFrom('property_state')
    .select(['record_id as id', 'property', 'kept'])
    .where('provider', '=', provider)
    .where('record_id', 'in', eachOf(db, ids))
    .where('kept', 'is not', null)
    .where('kept_by', 'is', null)
    .execute();
  return rows.flatMap(({ kept, ...row }) => (kept === null ? [] : [{ ...row, kept }]));
}

export async function nameEditors(
  { edits: readEdits }: Connection,
  unnamed: readonly UnnamedDifference[],
  now: number,
  signal: AbortSignal,
): Promise<readonly NamedDifference[]> {
  if (unnamed.length === 0 || readEdits === undefined) return [];
  const ids = [...new Set(unnamed.map(({ id }) => id))];
  const properties = [...new Set(unnamed.map(({ property }) => property))];
  const edits = await readEdits(ids, properties, now - LOOK_BACK_MS, signal);
  const histories = Map.groupBy(edits, ({ id, property }) => `${id} ${property}`);
  return unnamed.map((difference) => {
    const edit = editOf(difference, histories.get(`${difference.id} ${difference.property}`) ?? []);
    return { ...difference, editor: JSON.stringify(edit === undefined ? null : { name: edit.by, at: edit.at }) };
  });
}

/** The newest edit by somebody else that left the value. A CRM without stored values reports who changed the record. */
const editOf = ({ kept }: UnnamedDifference, history: readonly PropertyEdit[]): PropertyEdit | undefined =>
  history.findLast(({ own, value }) => !own && (value === undefined || JSON.stringify(value) === kept));

/** Stores editors of differences that have not changed since the CRM was asked. */
export async function rememberEditors(tx: Tx, provider: string, named: readonly NamedDifference[]): Promise<void> {
  if (named.length === 0) return;
  await sql`with named (id, property, kept, editor) as materialized
      (select each.id, each.property, each.kept, each.editor
        from ${eachRow(tx, ['id', 'property', 'kept', 'editor'], named)})
    update property_state set kept_by = named.editor from named
    where property_state.provider = ${provider} and property_state.record_id = named.id
      and property_state.property = named.property and property_state.kept = named.kept`.execute(tx);
}
