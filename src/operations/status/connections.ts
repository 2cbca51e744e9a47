/** How each connection does: whether it may be called, what it does, and when it last did something. */
import type { Crm } from '../../connector/crm/crm.ts';
import { type LeftConnection, readAllLeft } from '../../connector/links/left.ts';
import { readOutages } from '../../http/outbound/outage.ts';
import { type AccountBlock, readBlocks } from '../../runtime/limits/blocks.ts';
import type { Db } from '../../store/store.ts';

/** One connection as the overview shows it. */
export interface ConnectionRow {
  readonly name: string;
  /** `left` by a person, `paused` until a time, `silent` since one. */
  readonly state:
    | { readonly kind: 'ok' }
    | ({ readonly kind: 'left' } & LeftConnection)
    | ({ readonly kind: 'paused' } & Pick<AccountBlock, 'until' | 'reason' | 'fault'>)
    | { readonly kind: 'silent'; readonly since: number; readonly failure: string };
  /** Calls that the account allows in a minute. */
  readonly callsPerMinute: number;
  /** When a record was last read and decided; undefined if it was not lately. */
  readonly decidedAt: number | undefined;
  readonly writtenAt: number | undefined;
}

/** How many of the newest decisions are looked at for the last of each connection. */
const LATELY = 2_000;

/** Reads the state of all connections: small tables, and the newest decisions. */
export async function readConnections(
  db: Db,
  crms: readonly Pick<Crm, 'name' | 'limits'>[],
  now: number,
): Promise<readonly ConnectionRow[]> {
  if (crms.length === 0) return [];
  const blocks = await readBlocks(db, now);
  const outages = await readOutages(db, now);
  const left = await readAllLeft(db);
  const newest = await db
    .selectFrom('history')
    .select(['provider', 'outcome', 'at'])
    .orderBy('id', 'desc')
    .limit(LATELY)
    .execute();
  return crms.map(({ name, limits }) => {
    const block = blocks.find(({ account }) => account === name);
    const outage = outages.find(({ account }) => account === name);
    const { calls, perMs } = limits.budgets.default;
    const own = newest.filter(({ provider }) => provider === name);
    return {
      name,
      state: stateOf(left.get(name), block, outage),
      callsPerMinute: (calls * 60_000) / perMs,
      decidedAt: own[0]?.at,
      writtenAt: own.find(({ outcome }) => outcome === 'written')?.at,
    };
  });
}

function stateOf(
  left: LeftConnection | undefined,
  block: AccountBlock | undefined,
  outage: { readonly since: number; readonly failure: string } | undefined,
): ConnectionRow['state'] {
  if (left !== undefined) return { kind: 'left', ...left };
  if (block !== undefined) return { kind: 'paused', until: block.until, reason: block.reason, fault: block.fault };
  if (outage !== undefined) return { kind: 'silent', since: outage.since, failure: outage.failure };
  return { kind: 'ok' };
}
