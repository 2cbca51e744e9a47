/**
 * Stages keys for the index. The keys of one company are spread over an index of millions, so each would read and write
 * a page. While an index is built, keys are appended to buckets instead, which then enter the index one by one, in its
 * order.
 */
import { sql } from 'kysely';
import { eachRow } from '../../store/each.ts';
import { readValue, writeValue } from '../../store/kv.ts';
import type { Tx } from '../../store/store.ts';

/** A key of an entry, and its company; without a company the key is removed from the index. */
export interface StagedKey {
  readonly [column: string]: number | null;
  readonly key: number;
  readonly entry: number;
  readonly company: number | null;
}

const BUCKETS = 512;
/** Keys have 53 bits. */
const WIDTH = 2 ** 53 / BUCKETS;
const COUNT = 'match-index-staged';

/** Appends keys; the last of an entry counts. Call it under the lock of the index's state, which orders the keys. */
export async function stageKeys(tx: Tx, keys: readonly StagedKey[], now: number): Promise<void> {
  if (keys.length === 0) return;
  const count = Number((await readValue(tx, COUNT)) ?? 0);
  await writeValue(tx, COUNT, String(count + keys.length), now);
  const rows = keys
    .map((one, at) => ({ ...one, bucket: Math.floor(one.key / WIDTH), position: count + at }))
    .sort((a, b) => a.bucket - b.bucket || a.position - b.position);
  await sql`insert into match_key_staged (bucket, position, key, entry, company)
    select cast(each.bucket as bigint), cast(each.position as bigint), cast(each.key as bigint),
      cast(each.entry as bigint), cast(each.company as bigint)
    from ${eachRow(tx, ['bucket', 'position', 'key', 'entry', 'company'], rows)}`.execute(tx);
}

/** Moves the first bucket into the index, about 100,000 keys of 2.2 million companies; false if there is none. */
export async function mergeBucket(tx: Tx): Promise<boolean> {
  const first = await tx.selectFrom('match_key_staged').select('bucket').orderBy('bucket').limit(1).executeTakeFirst();
  if (first === undefined) return false;
  const { bucket } = first;
  const latest = sql`(select key, entry, company,
      row_number() over (partition by key, entry order by position desc) as age
    from match_key_staged where bucket = ${bucket}) as staged`;
  await sql`insert into match_key (key, entry, company)
    select key, entry, company from ${latest} where age = 1 and company is not null order by key, entry
    on conflict (key, entry) do update set company = excluded.company`.execute(tx);
  await sql`delete from match_key where (key, entry) in
    (select key, entry from ${latest} where age = 1 and company is null)`.execute(tx);
  await tx.deleteFrom('match_key_staged').where('bucket', '=', bucket).execute();
  return true;
}
