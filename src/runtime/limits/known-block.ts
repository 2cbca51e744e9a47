/** An account's block as this process knows it; a block of another process arrives within a quarter of a second. */
import { sql } from 'kysely';
import type { Store } from '../../store/store.ts';
import { type BlockFault, EVERY_BUDGET, fromNow, LAST_TIME_MS, SAME_TROUBLE_MS } from './blocks.ts';

/** Nobody may call the account before `until`; 0 if it is not blocked. */
export interface Block {
  readonly until: number;
  readonly reason: string | null;
}

export interface KnownBlock {
  current(): Promise<Block | undefined>;
  /** Blocks the account for every process. A shorter block does not end a longer one. */
  extend(block: Block, fault: BlockFault): Promise<void>;
  end(): Promise<void>;
  forget(): void;
}

export const RECHECK_MS = 250;

export function openBlock(store: Store, account: string, now: () => number): KnownBlock {
  const key = `${account}${EVERY_BUDGET}`;
  let known: Block = { until: 0, reason: null };
  let checkedAt = Number.NEGATIVE_INFINITY;
  const forget = (): void => {
    checkedAt = Number.NEGATIVE_INFINITY;
  };
  return {
    async current() {
      if (Math.abs(now() - checkedAt) > RECHECK_MS) {
        checkedAt = now();
        known = await readBlock(store, key, Math.floor(now()));
      }
      return known.until > now() ? known : undefined;
    },
    async extend(block, fault) {
      if (block.until > known.until) known = block;
      await writeBlock(store, key, { ...block, fault, since: Math.floor(now()) });
    },
    async end() {
      await store.write((tx) => tx.deleteFrom('rate_limit').where('key', '=', key).execute());
      forget();
    },
    forget,
  };
}

async function readBlock(store: Store, key: string, now: number): Promise<Block> {
  const row = await store.db.selectFrom('rate_limit').selectAll().where('key', '=', key).executeTakeFirst();
  const { blocked_until: stored = 0, blocked_since: since = null, reason = null } = row ?? {};
  const until = Math.min(stored, LAST_TIME_MS);
  const block = since === null ? { until } : fromNow({ since, until }, now);
  // Written once for every process: otherwise each read would restart the block.
  if (block.until !== until)
    await store.write((tx) =>
      tx
        .updateTable('rate_limit')
        .set({ blocked_since: now, blocked_until: block.until })
        .where('key', '=', key)
        .where('blocked_since', '=', since)
        .where('blocked_until', '=', stored)
        .execute(),
    );
  return { until: block.until, reason };
}

async function writeBlock(
  store: Store,
  key: string,
  { until, reason, fault, since }: Block & { readonly fault: BlockFault; readonly since: number },
): Promise<void> {
  await store.write((tx) =>
    tx
      .insertInto('rate_limit')
      .values({ key, next_at: 0, blocked_until: Math.ceil(until), reason, fault, blocked_since: since })
      .onConflict((conflict) =>
        conflict
          .column('key')
          .doUpdateSet((row) => ({
            fault: row.ref('excluded.fault'),
            blocked_since: sql<number>`case when rate_limit.blocked_until > ${since - SAME_TROUBLE_MS}
              then coalesce(rate_limit.blocked_since, ${since}) else ${since} end`,
            blocked_until: row.ref('excluded.blocked_until'),
            reason: row.ref('excluded.reason'),
          }))
          .whereRef('rate_limit.blocked_until', '<', 'excluded.blocked_until'),
      )
      .execute(),
  );
}
