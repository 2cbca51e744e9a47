/** Skips all rows of a stored plan that a filter finds and that would be linked, as if each were skipped alone. */
import { type AuditActor, recordAudit } from '../../../runtime/operators/audit.ts';
import type { Db, Store, Tx } from '../../../store/store.ts';
import { inPositions, readCounts, withCounts } from '../rows/counts.ts';
import { lockRun, planRevision, putRun } from '../rows/progress.ts';
import { updateRows } from '../rows/scan-rows.ts';
import { readOpenBackfill } from './backfill-task.ts';
import { editedPlan, isEditable, lineOf, skipped } from './edit-row.ts';
import { filteredRows, type PlanFilter } from './list-rows.ts';
import { answersOf } from './row-of-line.ts';
import { rememberSkips } from './skipped.ts';

/** What a person would have skipped. */
export interface SkipAll {
  readonly provider: string;
  readonly filter: PlanFilter;
  /** The plan as the person saw it, by `planRevision`. */
  readonly revision: string;
  readonly actor: AuditActor;
}

/** Rows of one transaction: others write in between. */
const PAGE = 1_000;

const toLink = (db: Db, provider: string, filter: PlanFilter) =>
  filteredRows(db, provider, filter).where('action', '=', 'link').where('state', '=', 'planned');

/** How many rows that would be. Reads the plan only where a text is looked for in it; of the parts only `link` has such rows. */
export async function countToSkip(db: Db, provider: string, filter: PlanFilter): Promise<number> {
  const { text = '', part = 'link', verdict } = filter;
  if (text === '' && part !== 'link') return 0;
  if (text === '') {
    const { toLink: all, linkable } = await readCounts(db, provider);
    return verdict === undefined ? all : (linkable[verdict] ?? 0);
  }
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
  for (let revision = asked.revision; ; ) {
    const result = await store.write((tx) => skipPage(tx, { ...asked, revision }, now()));
    if (result === 'done' || result === 'stale' || result === 'busy') return result;
    revision = result.revision;
  }
}

async function skipPage(
  tx: Tx,
  { provider, filter, revision, actor }: SkipAll,
  now: number,
): Promise<'done' | 'stale' | 'busy' | { readonly revision: string }> {
  const run = await lockRun(tx, provider);
  if (run === undefined || planRevision(run) !== revision) return 'stale';
  if (!isEditable(run) || (await readOpenBackfill(tx, provider)) !== undefined) return 'busy';
  const rows = await toLink(tx, provider, filter).limit(PAGE).execute();
  if (rows.length === 0) return 'done';
  const lines = rows.map(({ record_id: id }) => lineOf(id, null));
  const { skips, links } = answersOf(lines, new Map(rows.map((row) => [row.record_id, row])));
  await rememberSkips(tx, provider, skips, links);
  const ids = rows.map((row) => row.record_id);
  await withCounts(tx, { provider, ids, now }, () =>
    updateRows(
      tx,
      provider,
      rows.map(({ version: _, ...row }) => skipped(row)),
    ),
  );
  const next = { ...run, ...editedPlan(run) };
  await putRun(tx, provider, next, now);
  const entry = { actor, via: 'page', action: 'backfill.skip-all', subject: provider } as const;
  await recordAudit(tx, { ...entry, detail: { ...filter }, result: `skipped ${rows.length} records` }, now);
  return { revision: planRevision(next) };
}
