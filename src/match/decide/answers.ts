/** Counts people's answers to matches by pattern; the probability of a pattern follows them (probability.ts). */
import { sql } from 'kysely';
import type { Db, Tx } from '../../store/store.ts';
import type { Answers } from './probability.ts';

const KEY = { accepted: 'match-accepted:', refused: 'match-refused:' } as const;
export type AnswerKind = keyof typeof KEY;

export async function readAnswers(db: Db): Promise<Answers> {
  const [accepted, refused] = await Promise.all([readCounts(db, KEY.accepted), readCounts(db, KEY.refused)]);
  return new Map(
    [...new Set([...accepted.keys(), ...refused.keys()])].map((pattern) => {
      const yes = accepted.get(pattern) ?? 0;
      return [pattern, { accepted: yes, of: yes + (refused.get(pattern) ?? 0) }];
    }),
  );
}

async function readCounts(db: Db, prefix: string): Promise<ReadonlyMap<string, number>> {
  const rows = await db.selectFrom('kv').select(['key', 'value']).where('key', 'like', `${prefix}%`).execute();
  return new Map(rows.map(({ key, value }) => [key.slice(prefix.length), Math.max(0, Number(value))]));
}

/** A negative `number` takes answers back. */
export async function countAnswers(
  tx: Tx,
  { pattern, kind, by }: { readonly pattern: string; readonly kind: AnswerKind; readonly by: number },
  now: number,
): Promise<void> {
  // One statement, so that two answers at the same moment both count.
  await sql`insert into kv (key, value, updated_at) values (${KEY[kind] + pattern}, ${String(by)}, ${now})
    on conflict (key) do update set value = cast(cast(kv.value as bigint) + ${by} as text), updated_at = excluded.updated_at`.execute(
    tx,
  );
}
