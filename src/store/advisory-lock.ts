/** Locks of PostgreSQL that a transaction holds until it ends. SQLite has one writer and needs none. */
import { sql } from 'kysely';
import { type Db, engineOf } from './store.ts';

/** Constants that no other program uses. */
const LOCKS = {
  schema: 4_857_231_906,
  erasures: 7_201_994,
  publishers: 7_201_995,
  copy: 7_201_996,
  move: 7_201_997,
  leaving: 7_201_998,
} as const;

/** Waits for the lock. Many transactions may share it; an exclusive one waits until they have ended. */
export async function lockUntilCommit(db: Db, name: keyof typeof LOCKS, mode: 'shared' | 'exclusive'): Promise<void> {
  if (engineOf(db) !== 'postgres') return;
  const lock = sql.raw(mode === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock');
  await sql`select ${lock}(${LOCKS[name]})`.execute(db);
}
