/** The second list: the items that the service monitors for a connection. */
import { sql } from 'kysely';
import type { WireItem, WireJob } from '../../protocol/api.ts';
import { eachRow } from '../../store/each.ts';
import { withoutErased } from '../../store/erasure/erasures.ts';
import type { Db, Tx } from '../../store/store.ts';
import type { Upstream } from '../monitoring/upstream.ts';
import { type ReconcileContext, writeHeld } from './context.ts';
import { jobsOf } from './jobs-of.ts';

export interface ReadItems {
  readonly count: number;
  readonly jobs: readonly string[];
}

const PAGE = 500;

/** Reads the connection's items into the scan, all or none: throws {@link UpstreamError} if a page is missing. */
export async function readItems(
  context: ReconcileContext,
  upstream: Upstream,
  signal: AbortSignal,
): Promise<ReadItems> {
  const { crm, report, store } = context;
  const all = await upstream.jobs(signal);
  const others = await namesOfOthers(store.db, crm.name, all);
  const { jobs, mixed } = jobsOf(all, crm.name, others);
  let count = 0;
  for (const job of jobs) {
    let page: WireItem[] = [];
    const put = async (): Promise<void> => {
      const rows = page;
      page = [];
      count += await writeHeld(context, (tx) => putItems(tx, crm.name, rows));
      report?.({ reading: 'items', count });
    };
    for await (const item of upstream.items(job.id, signal)) {
      if (mixed && item.provider?.toLowerCase() !== crm.name.toLowerCase()) continue;
      page.push(item);
      if (page.length === PAGE) await put();
    }
    await put();
  }
  return { count, jobs: jobs.map(({ id, name }) => name ?? id) };
}

async function namesOfOthers(db: Db, provider: string, jobs: readonly WireJob[]): Promise<ReadonlySet<string>> {
  const others = new Set<string>();
  for (const { name } of jobs) {
    if (name === undefined || name === provider) continue;
    const link = db.selectFrom('link').select('provider').where('provider', '=', name).limit(1);
    if ((await link.executeTakeFirst()) !== undefined) others.add(name);
  }
  return others;
}

/** Returns the number of new items: an item may appear twice while the list changes. */
async function putItems(tx: Tx, provider: string, given: readonly WireItem[]): Promise<number> {
  const items = await withoutErased(tx, given, ({ entityId }) => entityId);
  if (items.length === 0) return 0;
  const rows = items.map(({ entityId, id }) => ({ entity: entityId, record: id }));
  const { numAffectedRows = 0n } = await sql`insert into scan_item (provider, entity, record_id)
    select cast(${provider} as text), each.entity, each.record
    from ${eachRow(tx, ['entity', 'record'], rows)} where true on conflict (provider, entity, record_id) do nothing`.execute(
    tx,
  );
  return Number(numAffectedRows);
}
