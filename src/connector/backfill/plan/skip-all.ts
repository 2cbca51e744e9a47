/** Skips all rows of a stored plan that a filter finds and that would be linked, as if each were skipped alone. */
import { type AuditActor, recordAudit } from '../../../runtime/operators/audit.ts';
import type { Db, Store, Tx } from '../../../store/store.ts';
import { inPositions, updateRows } from '../rows/rows.ts';
import { lockRun, planSight, putRun } from '../rows/run.ts';
import { isEditable, lineOf, skipped } from './edit.ts';
import { filteredRows, type PlanFilter } from './list.ts';
import { answersOf } from './row-of-line.ts';
import { readOpenBackfill } from './runs.ts';
import { rememberSkips } from './skipped.ts';

/** What a person would have skipped. */
export interface SkipAll {
  readonly provider: string;
  readonly filter: PlanFilter;
  /** The plan as the person saw it, by `planSight`. */
  readonly sight: string;
  readonly actor: AuditActor;
}

/** Rows of one transaction: others write in between. */
const PAGE = 1_000;

const toLink = (db: Db, provider: string, filter: PlanFilter) =>
  filteredRows(db, provider, filter).where('action', '=', 'link').where('state', '=', 'planned');

/** How many rows that would be. */
export async function countToSkip(db: Db, provider: string, filter: PlanFilter): Promise<number> {
  let sum = 0;
  await inPositions(db, provider, async (from, to) => {
    const { count } = await toLink(db, provider, filter)
      .clearSelect()
      .clearOrderBy()
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('position', '>', from)
      .where('position', '<=', to)
      .executeTakeFirstOrThrow();
    sum += Number(count);
  });
  return sum;
}

/** `stale`: the plan is another one by now, and what was not skipped before that is as it was; `busy`: no plan may be edited. */
export async function skipAll(
  { store, now }: { readonly store: Store; readonly now: () => number },
  asked: SkipAll,
): Promise<'done' | 'stale' | 'busy'> {
  for (let sight = asked.sight; ; ) {
    const result = await store.write((tx) => skipPage(tx, { ...asked, sight }, now()));
    if (result === 'done' || result === 'stale' || result === 'busy') return result;
    sight = result.sight;
  }
}

async function skipPage(
  tx: Tx,
  { provider, filter, sight, actor }: SkipAll,
  now: number,
): Promise<'done' | 'stale' | 'busy' | { readonly sight: string }> {
  const run = await lockRun(tx, provider);
  if (run === undefined || planSight(run) !== sight) return 'stale';
  if (!isEditable(run) || (await readOpenBackfill(tx, provider)) !== undefined) return 'busy';
  const rows = await toLink(tx, provider, filter).limit(PAGE).execute();
  if (rows.length === 0) return 'done';
  const lines = rows.map(({ record_id: id }) => lineOf(id, null));
  const { skips, links } = answersOf(lines, new Map(rows.map((row) => [row.record_id, row])));
  await rememberSkips(tx, provider, skips, links);
  await updateRows(
    tx,
    provider,
    rows.map(({ version: _, ...row }) => skipped(row)),
  );
  const next = { ...run, phase: 'planned', applied: 0, edits: (run.edits ?? 0) + 1 } as const;
  await putRun(tx, provider, next, now);
  const entry = { actor, via: 'page', action: 'backfill.skip-all', subject: provider } as const;
  await recordAudit(tx, { ...entry, detail: { ...filter }, result: `skipped ${rows.length} records` }, now);
  return { sight: planSight(next) };
}
