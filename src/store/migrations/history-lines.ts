/** History gets one row for what was decided together, with a line for each property: it had a row for each. */
import { type ColumnBuilderCallback, type Insertable, sql } from 'kysely';
import { jsonOrText, storableJson } from '../each.ts';
import type { HistoryTable } from '../schema.ts';
import type { Engine, Tx } from '../store.ts';
import { dialect } from './dialect.ts';

interface OldRow {
  readonly id: number;
  readonly at: number;
  readonly provider: string;
  readonly record_id: string;
  readonly entity: string;
  readonly field: string | null;
  readonly property: string | null;
  readonly seq: number;
  readonly rule: string;
  readonly old_value: string | null;
  readonly new_value: string | null;
  readonly outcome: string;
  readonly detail: string | null;
}

const STEP = 5_000;
const PART = 100;
const required: ColumnBuilderCallback = (column) => column.notNull();

export async function addHistoryLines(tx: Tx, engine: Engine): Promise<void> {
  const { text, integer, serial } = dialect(tx, engine);
  for (const index of ['history_record', 'history_entity', 'history_seq']) await tx.schema.dropIndex(index).execute();
  await tx.schema.alterTable('history').renameTo('history_before').execute();
  await serial('history', 'id')
    .addColumn('at', integer, required)
    .addColumn('provider', text, required)
    .addColumn('record_id', text, required)
    .addColumn('entity', text, required)
    .addColumn('seq', integer, required)
    .addColumn('rule', text, required)
    .addColumn('outcome', text, required)
    .addColumn('lines', text)
    .addColumn('detail', text)
    .execute();
  for (let after = 0; ; ) {
    const { rows } =
      await sql<OldRow>`select * from history_before where id > ${after} order by id limit ${STEP}`.execute(tx);
    const last = rows.at(-1);
    if (last === undefined) break;
    const grouped = groupsOf(rows);
    for (let from = 0; from < grouped.length; from += PART)
      await tx
        .insertInto('history')
        .values(grouped.slice(from, from + PART))
        .execute();
    after = last.id;
  }
  await tx.schema.dropTable('history_before').execute();
  await tx.schema.createIndex('history_record').on('history').columns(['provider', 'record_id', 'id']).execute();
  await tx.schema.createIndex('history_entity').on('history').columns(['entity', 'id']).execute();
  await tx.schema.createIndex('history_seq').on('history').columns(['seq', 'id']).execute();
}

const groupsOf = (rows: readonly OldRow[]): readonly Insertable<HistoryTable>[] =>
  [...Map.groupBy(rows, nameOf).values()].flatMap((group): readonly Insertable<HistoryTable>[] => {
    const [first] = group;
    if (first === undefined) return [];
    const { at, provider, record_id, entity, seq, rule, outcome } = first;
    const row = { at, provider, record_id, entity, seq, rule, outcome };
    if (first.property === null) return [{ ...row, lines: null, detail: first.detail }];
    const lines = group.map(({ property, field, old_value, new_value, detail }) => [
      ...[property, field ?? '', jsonOrText(old_value), jsonOrText(new_value), detail],
    ]);
    return [{ ...row, lines: storableJson(lines), detail: null }];
  });

/** A line about the record as a whole stays for itself. */
const nameOf = ({ id, at, provider, record_id, entity, property, seq, rule, outcome }: OldRow): string =>
  [at, provider, record_id, entity, seq, rule, outcome, property === null ? id : ''].join(' ');
