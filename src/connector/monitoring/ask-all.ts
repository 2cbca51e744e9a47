/** Requests a full update of every linked company, after a period that the store lost. */

import { sql } from 'kysely';
import { mark } from '../../runtime/lanes/lanes.ts';
import type { StepRecorder } from '../../runtime/operators/audit.ts';
import { eachRow } from '../../store/each.ts';
import { hasNoRow } from '../../store/has-row.ts';
import { closeGaps } from '../../store/recovery/gap.ts';
import type { Store, Tx } from '../../store/store.ts';
import { linkKey, MONITORING_QUEUE, type RecordRef } from '../names/queues.ts';

const STEP = 1_000;

export async function askAllFullUpdates(
  { store, recorded }: { readonly store: Store; readonly recorded: StepRecorder },
  now: () => number,
  signal: AbortSignal,
): Promise<number> {
  let count = 0;
  let entry: number | undefined;
  let after: RecordRef | undefined = { provider: '', recordId: '' };
  while (after !== undefined) {
    signal.throwIfAborted();
    const from: RecordRef = after;
    const step = await store.write(async (tx) => {
      const asked = await askSome(tx, from, now());
      const isLast = asked.length < STEP;
      if (isLast) await closeGaps(tx, now());
      return { asked, isLast, entry: await recorded(tx, count + asked.length, entry) };
    });
    ({ entry } = step);
    count += step.asked.length;
    after = step.isLast ? undefined : step.asked.at(-1);
  }
  return count;
}

/** The first link of a company is enough: all its links share what the service sends. */
async function askSome(tx: Tx, { provider, recordId }: RecordRef, now: number): Promise<readonly RecordRef[]> {
  const asks = (link: string) => sql`${sql.ref(`${link}.state`)} = 'active' and ${sql.ref(`${link}.desired`)} = 'on'
    and ${sql.ref(`${link}.observed`)} <> 'refused'`;
  const { rows } = await sql<{ provider: string; recordId: string }>`
    select link.provider, link.record_id as "recordId" from link
    where (link.provider, link.record_id) > (${provider}, ${recordId}) and ${asks('link')}
      and ${hasNoRow(sql`(select 1 from link as other where other.entity = link.entity and ${asks('other')}
        and (other.provider, other.record_id) < (link.provider, link.record_id) limit 1)`)}
    order by link.provider, link.record_id limit ${STEP}`.execute(tx);
  if (rows.length === 0) return [];
  const keys = rows.map((row) => linkKey(row.provider, row.recordId));
  await mark(tx, MONITORING_QUEUE, keys, now);
  await sql`update link set send_update = 1 from ${eachRow(tx, ['provider', 'recordId'], rows)}
    where link.provider = each.provider and link.record_id = each."recordId"`.execute(tx);
  return rows;
}
