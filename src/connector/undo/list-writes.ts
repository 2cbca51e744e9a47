/** The writes that history knows as a list for people, the newest first. */
import { sql } from 'kysely';
import { each } from '../../store/each.ts';
import type { Db } from '../../store/store.ts';
import { type DecidedLine, decidedLines, hasLine, LINE } from '../history/history-lines.ts';
import { CLOCK_SKEW_MS, firstDecisionAt } from './first-decision.ts';
import type { Selection } from './writes.ts';

/** A page of writes. `older`: only writes before this id may be left; undefined at the end. */
export interface WritePage {
  readonly writes: readonly DecidedLine[];
  readonly older: number | undefined;
}

/** Rows of history that one page looks through: a rare property is no reason to read all of it. */
const LOOKED_THROUGH = 5_000;

/**
 * Lists the writes of a selection, the newest before the row `before`; some more than `limit` if the last of them were
 * decided together. Looks through 5,000 rows at most.
 */
export async function listWrites(
  db: Db,
  selection: Selection & { readonly before?: number | undefined },
  limit: number,
): Promise<WritePage> {
  const { event, entity, provider, record, property, rule, since, until, before } = selection;
  const bounds = [before, until === undefined ? undefined : await firstDecisionAt(db, until + CLOCK_SKEW_MS)];
  const end = Math.min(...bounds.filter((bound) => bound !== undefined));
  const providers = record === undefined || provider !== undefined ? [provider ?? ''] : await providersOf(db);
  const decisions = db
    .selectFrom('history')
    .selectAll()
    .$if(Number.isFinite(end), (query) => query.where('id', '<', end))
    .$if(event !== undefined, (query) => query.where('seq', '=', event ?? 0))
    .$if(entity !== undefined, (query) => query.where('entity', '=', entity ?? ''))
    .$if(record !== undefined, (query) =>
      query.where('provider', 'in', each(db, providers)).where('record_id', '=', record ?? ''),
    )
    .orderBy('id', 'desc');
  const rows = await db
    .selectFrom(decisions.limit(LOOKED_THROUGH).as('decision'))
    .selectAll()
    .where('outcome', '=', 'written')
    .$if(provider !== undefined, (query) => query.where('provider', '=', provider ?? ''))
    .$if(property !== undefined, (query) => query.where(hasLine(db, sql`${LINE.property} = ${property}`)))
    .$if(rule !== undefined, (query) => query.where('rule', '=', rule ?? ''))
    .$if(since !== undefined, (query) => query.where('at', '>=', since ?? 0))
    .$if(until !== undefined, (query) => query.where('at', '<', until ?? 0))
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
  const writes: DecidedLine[] = [];
  for (const row of rows) {
    if (writes.length >= limit) return { writes, older: writes.at(-1)?.id };
    writes.push(...decidedLines(row).filter((line) => property === undefined || line.property === property));
  }
  const last = await decisions
    .offset(LOOKED_THROUGH - 1)
    .limit(1)
    .executeTakeFirst();
  const isOver = last === undefined || (since !== undefined && last.at < since - CLOCK_SKEW_MS);
  return { writes, older: isOver ? undefined : last.id };
}

/** The connections that history knows, read by a jump along its index for each: a record's rows stand there under one. */
async function providersOf(db: Db): Promise<readonly string[]> {
  const found: string[] = [];
  for (let last: string | null | undefined = ''; ; ) {
    const { next }: { next: string | null } = await db
      .selectFrom('history')
      .select(({ fn }) => fn.min('provider').as('next'))
      .where('provider', '>', last ?? '')
      .executeTakeFirstOrThrow();
    if (next === null) return found;
    found.push(next);
    last = next;
  }
}
