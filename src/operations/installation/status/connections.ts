/** The state of each connection: whether it may be called, what it does, and when it last did something. */
import { type RawBuilder, sql } from 'kysely';
import type { Crm } from '../../../connector/crm/crm.ts';
import { type LeftConnection, readAllLeft } from '../../../connector/links/left.ts';
import { readOutages } from '../../../http/outbound/outage.ts';
import { type AccountBlock, readBlocks } from '../../../runtime/limits/blocks.ts';
import type { Db } from '../../../store/store.ts';

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
  /** When a record was last read and decided; undefined if that was not recently. */
  readonly decidedAt: number | undefined;
  readonly writtenAt: number | undefined;
}

/** The newest decisions that are read to find the last one of each connection. */
const LATELY = 2_000;

/** Cheap: reads small tables, and the newest decisions. */
export async function readConnections(
  db: Db,
  crms: readonly Pick<Crm, 'name' | 'limits'>[],
  now: number,
): Promise<readonly ConnectionRow[]> {
  if (crms.length === 0) return [];
  const blocks = await readBlocks(db, now);
  const outages = await readOutages(db, now);
  const left = await readAllLeft(db);
  const newest = await readNewest(
    db,
    crms.map(({ name }) => name),
  );
  return crms.map(({ name, limits }, at) => {
    const block = blocks.find(({ account }) => account === name);
    const outage = outages.find(({ account }) => account === name);
    const { calls, perMs } = limits.budgets.default;
    return {
      name,
      state: stateOf(left.get(name), block, outage),
      callsPerMinute: (calls * 60_000) / perMs,
      decidedAt: newest[at]?.decidedAt,
      writtenAt: newest[at]?.writtenAt,
    };
  });
}

/** When each connection last decided and last wrote, among the newest decisions. */
async function readNewest(db: Db, names: readonly string[]) {
  const newest = db.selectFrom('history').select(['provider', 'outcome', 'at']).orderBy('id', 'desc').limit(LATELY);
  const last = (condition: RawBuilder<unknown>, as: string) =>
    sql`max(case when ${condition} then at end) as ${sql.ref(as)}`;
  // Grouping would make the engine sort.
  const columns = names.flatMap((name, at) => [
    last(sql`provider = ${name}`, `decided${at}`),
    last(sql`provider = ${name} and outcome = 'written'`, `written${at}`),
  ]);
  const { rows } = await sql<
    Readonly<Record<string, number | null>>
  >`select ${sql.join(columns)} from ${newest} as newest`.execute(db);
  const lastOf = (column: string): number | undefined => rows[0]?.[column] ?? undefined;
  return names.map((_, at) => ({ decidedAt: lastOf(`decided${at}`), writtenAt: lastOf(`written${at}`) }));
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
