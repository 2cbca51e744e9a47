/** The rows of a plan as people look through them: a page at a time, by what the scan found and what is to be done. */
import { sql } from 'kysely';
import { readCvrNumber } from '../../../protocol/cvr-number.ts';
import { companyEntityId } from '../../../protocol/entity-id.ts';
import { ROWS_AT_ONCE } from '../../../store/count.ts';
import type { Db } from '../../../store/store.ts';
import type { Verdict } from '../../follow/verdict.ts';
import { lastPosition } from '../rows/counts.ts';
import { NEEDS_PERSON, type PlanRow, rowsOf } from '../rows/scan-rows.ts';

/** What is or was to be done with rows; `person`: those that a person should look at. */
export const PLAN_PARTS = ['person', 'link', 'skip', 'linked', 'failed'] as const;

/** What narrows a plan. */
export interface PlanFilter {
  readonly verdict?: Verdict | undefined;
  readonly part?: (typeof PLAN_PARTS)[number] | undefined;
  /** A part of the name, a record id, or a number as the record holds it or in any spelling. */
  readonly text?: string | undefined;
}

const PARTS = {
  person: NEEDS_PERSON,
  link: sql<boolean>`(action = 'link' and state = 'planned')`,
  skip: sql<boolean>`action = 'skip'`,
  linked: sql<boolean>`(action = 'link' and state = 'done')`,
  failed: sql<boolean>`state = 'failed'`,
} as const satisfies Readonly<Record<NonNullable<PlanFilter['part']>, unknown>>;

/** Rows that one page looks through, so that it answers soon where few of many fit. */
const WINDOW = 20_000;

export interface PlanPage {
  readonly rows: readonly PlanRow[];
  /** The position that the next page comes after; undefined if there is none. */
  readonly next: number | undefined;
}

/** The rows that a filter finds, in the order of the scan. */
export function filteredRows(db: Db, provider: string, { verdict, part, text = '' }: PlanFilter) {
  return rowsOf(db, provider)
    .$if(verdict !== undefined, (query) => query.where('verdict', '=', verdict ?? ''))
    .$if(part !== undefined, (query) => query.where(PARTS[part ?? 'person']))
    .$if(text !== '', (query) => query.where(holds(text)))
    .orderBy('position');
}

/** The rows after a position, in the order of the scan. A page may be empty, and still have a next one. */
export async function listRows(
  db: Db,
  provider: string,
  filter: PlanFilter,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<PlanPage> {
  const last = await lastPosition(db, provider);
  const until = Math.min(after + WINDOW, last);
  const rows: PlanRow[] = [];
  for (let from = after; from < until && rows.length <= limit; from += ROWS_AT_ONCE) {
    const found = filteredRows(db, provider, filter)
      .where('position', '>', from)
      .where('position', '<=', from + ROWS_AT_ONCE)
      .limit(limit + 1 - rows.length);
    rows.push(...(await found.execute()));
  }
  if (rows.length > limit) return { rows: rows.slice(0, limit), next: rows[limit - 1]?.position };
  return { rows, next: until < last ? until : undefined };
}

/** Engines fold no letter beyond `z`: a name is looked for as it was typed, in small, in capital letters and with an initial. */
function holds(text: string) {
  const small = text.toLocaleLowerCase('da');
  const capital = text.toLocaleUpperCase('da');
  const names = [...new Set([text, small, capital, capital.slice(0, 1) + small.slice(1)])];
  const number = readCvrNumber(text, { pad: true });
  const entity = number.kind === 'number' ? companyEntityId(number.number) : null;
  const any = names.map((name) => sql`name like ${`%${name.replaceAll(/[\\%_]/gu, '\\$&')}%`} escape '\\'`);
  return sql<boolean>`(record_id = ${text} or found = ${text} or entity = ${entity} or ${sql.join(any, sql` or `)})`;
}
