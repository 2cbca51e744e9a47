/** The writes that history knows, and which of them a person wants to take back. */
import { type RawBuilder, sql } from 'kysely';
import type { PropertyValue } from '../../../providers/provider.ts';
import { elements } from '../../store/each.ts';
import type { Db } from '../../store/store.ts';
import type { DecisionRule } from '../decide/decide.ts';
import { CARRIED } from '../history/history.ts';
import { type DecidedLine, decidedLines, hasLine, LINE } from '../history/history-lines.ts';
import type { RecordRef } from '../names/queues.ts';
import { CLOCK_SKEW_MS, firstDecisionAt } from './first-decision.ts';

/** Which writes to take back: those that all of it holds for. */
export interface Selection {
  /** The receipt that brought the value. */
  readonly event?: number | undefined;
  /** Canonical entity id. */
  readonly entity?: string | undefined;
  readonly provider?: string | undefined;
  /** Ms since 1970; from then on. */
  readonly since?: number | undefined;
  /** Ms since 1970; before then. */
  readonly until?: number | undefined;
  readonly property?: string | undefined;
  /** Canonical id; only with `provider`. */
  readonly record?: string | undefined;
  /** The rule that decided the write. */
  readonly rule?: string | undefined;
}

/** Whether a selection is narrow enough to be taken back: by when, of what company, which record or which event. */
export const isNarrow = ({ event, entity, since, record, provider }: Selection): boolean =>
  event !== undefined ||
  entity !== undefined ||
  since !== undefined ||
  (record !== undefined && provider !== undefined);

/** A value that we wrote, and what it replaced. */
export interface Write {
  readonly at: number;
  readonly recordId: string;
  readonly entity: string;
  readonly field: string;
  readonly property: string;
  readonly seq: number;
  readonly rule: string;
  readonly old: PropertyValue;
  readonly now: PropertyValue;
  /** What the CRM stored instead, if it differs. */
  readonly stored?: PropertyValue;
  /** Whether it is to be taken back. */
  readonly selected: boolean;
}

/** When the register last changed stays true whatever is put back, as does the page's address: left alone unless named. */
const LEFT_ALONE: readonly string[] = ['registerChangedAt', 'dashboardUrl'];

/** The records with writes that are selected, by connection and id. */
export async function readAffected(db: Db, selection: Selection): Promise<readonly RecordRef[]> {
  const wanted = await selectedRows(db, selection);
  const rows = await db
    // For itself, or SQLite would read all of history to have the records in their order.
    .with(
      (cte) => cte('wanted').materialized(),
      () => wanted.select(['provider', 'record_id']),
    )
    .selectFrom('wanted')
    .select(['provider', 'record_id'])
    .distinct()
    .orderBy('provider')
    .orderBy('record_id')
    .execute();
  return rows.map((row) => ({ provider: row.provider, recordId: row.record_id }));
}

/** How many writes of values are selected: at least as many as an undo would take back. */
export async function countWrites(db: Db, selection: Selection): Promise<number> {
  const wanted = await selectedRows(db, selection);
  const lines = sql`${elements(db, 'lines')} as line where ${lineOf(selection)}`;
  const count = sql<number>`coalesce(sum((select count(*) from ${lines})), 0)`;
  const { values } = await wanted.select(count.as('values')).executeTakeFirstOrThrow();
  return Number(values);
}

const lineOf = ({ property }: Selection): RawBuilder<unknown> =>
  property === undefined ? sql`${LINE.field} not in (${sql.join(LEFT_ALONE)})` : sql`${LINE.property} = ${property}`;

/** The rows of history with writes that are selected. Reads an index, or the part of history that a window names. */
async function selectedRows(db: Db, selection: Selection) {
  const { event, entity, provider, since, until, record, rule } = selection;
  const first = since === undefined ? 0 : await firstDecisionAt(db, since - CLOCK_SKEW_MS);
  // Not by the column alone: SQLite would read all decisions of the connection, and not the window's.
  const connection = since === undefined || record !== undefined ? sql.ref('provider') : sql`coalesce(provider, '')`;
  return db
    .selectFrom('history')
    .where('outcome', '=', 'written')
    .where('id', '>=', first)
    .where(hasLine(db, lineOf(selection)))
    .$if(event !== undefined, (query) => query.where('seq', '=', event ?? 0))
    .$if(entity !== undefined, (query) => query.where('entity', '=', entity ?? ''))
    .$if(provider !== undefined, (query) => query.where(connection, '=', provider ?? ''))
    .$if(since !== undefined, (query) => query.where('at', '>=', since ?? 0))
    .$if(until !== undefined, (query) => query.where('at', '<', until ?? 0))
    .$if(record !== undefined, (query) => query.where('record_id', '=', record ?? ''))
    .$if(rule !== undefined, (query) => query.where('rule', '=', rule ?? ''));
}

/** Our writes to one property of a record. */
export interface PropertyWrites {
  /** Oldest first: also those that are not selected, since they may have overtaken others. */
  readonly writes: readonly Write[];
  readonly last: Write;
  /** What a write of another part of its group carried since then (carry.ts). */
  readonly carried: Write | undefined;
  /** The company that the record stands for since, where its register says what stands there: history has no write then. */
  readonly sameBy: string | undefined;
}

/** All writes to a record, property by property. */
export async function readWrites(
  db: Db,
  { provider, recordId }: RecordRef,
  selection: Selection,
): Promise<readonly PropertyWrites[]> {
  const rows = await db
    .selectFrom('history')
    .selectAll()
    .where((row) => row.or([row('outcome', '=', 'written'), row('rule', 'in', HOLDS_NOW)]))
    .where('provider', '=', provider)
    .where('record_id', '=', recordId)
    .orderBy('id')
    .execute();
  return [...Map.groupBy(rows.flatMap(decidedLines), ({ property }) => property).values()].flatMap((group) => {
    const writes = group.filter(({ outcome }) => outcome === 'written').map((line) => writeIn(line, selection));
    const sent = group.findLast(({ outcome }) => outcome === 'written' || outcome === CARRIED);
    const carried = sent?.outcome === CARRIED ? writeIn(sent, selection) : undefined;
    const [last, newest] = [writes.at(-1) ?? carried, group.at(-1)];
    if (last === undefined) return [];
    return [
      { writes, last, carried, sameBy: newest !== undefined && isSameBy(newest, last) ? newest.entity : undefined },
    ];
  });
}

/** The rules by which a property holds what the register says, or what the CRM made of that. */
const HOLDS_NOW: readonly string[] = ['same', 'stored'] satisfies readonly DecisionRule[];

const isSameBy = ({ rule, entity }: DecidedLine, last: Write): boolean =>
  HOLDS_NOW.includes(rule) && entity !== last.entity;

function writeIn(line: DecidedLine, { event, entity, since, until, property, rule }: Selection): Write {
  return {
    at: line.at,
    recordId: line.record_id,
    entity: line.entity,
    field: line.field,
    property: line.property,
    seq: line.seq,
    rule: line.rule,
    old: line.old,
    now: line.now,
    ...(line.stored !== undefined && { stored: line.stored }),
    selected:
      (property === undefined ? !LEFT_ALONE.includes(line.field) : line.property === property) &&
      (event === undefined || line.seq === event) &&
      (entity === undefined || line.entity === entity) &&
      (rule === undefined || line.rule === rule) &&
      line.at >= (since ?? Number.NEGATIVE_INFINITY) &&
      line.at < (until ?? Number.POSITIVE_INFINITY),
  };
}
