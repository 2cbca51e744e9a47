/** The store of a bench: filled at once before the daemon starts, watched from outside while it works. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { sql } from 'kysely';
import { extract } from '../../src/connector/facts/extract.ts';
import { type Fact, fold } from '../../src/connector/facts/fact.ts';
import { fullStatePayload, sampleCompany } from '../../src/protocol/sample/company.ts';
import { eachRow } from '../../src/store/each.ts';
import { openStore } from '../../src/store/engines/open.ts';
import type { Tx } from '../../src/store/store.ts';

const NOW = Date.UTC(2026, 0, 1);
const PARTS = 1_000;

const fileIn = (folder: string): string => join(folder, 'cvrsync.db');

/** Links each record to a company of its own, from `CVR-1-<first>` on. */
export async function linkRecords(tx: Tx, provider: string, ids: readonly string[], first: number): Promise<void> {
  for (let from = 0; from < ids.length; from += PARTS) {
    const rows = ids.slice(from, from + PARTS).map((id, at) => ({ id, entity: `CVR-1-${first + from + at}` }));
    await sql`insert into link (provider, record_id, entity, state, desired, observed, created_at, updated_at)
      select ${provider}, each.id, each.entity, 'active', 'on', 'on', ${NOW}, ${NOW}
      from ${eachRow(tx, ['id', 'entity'], rows)}`.execute(tx);
  }
}

/** Fills a new store with linked records. */
export async function withLinks(
  folder: string,
  provider: string,
  ids: readonly string[],
  first: number,
): Promise<void> {
  const store = await openStore(fileIn(folder));
  await store.write((tx) => linkRecords(tx, provider, ids, first));
  await store.close();
}

/** Fills a store with linked records of companies of their own, from `CVR-1-<first>` on, that are behind: their companies' facts are known, the CRM does not have them. */
export async function withWaiting(
  folder: string,
  provider: string,
  ids: readonly string[],
  first: number,
): Promise<void> {
  const store = await openStore(fileIn(folder));
  await store.write(async (tx) => {
    await linkRecords(tx, provider, ids, first);
    for (let from = 0; from < ids.length; from += PARTS) {
      const facts = ids
        .slice(from, from + PARTS)
        .flatMap((_, at) => factsOf(`CVR-1-${first + from + at}`, from + at + 1));
      const rows = facts.map(({ value, ...fact }) => ({ ...fact, value: JSON.stringify(value) }));
      await sql`insert into fact (entity, field, value, clock, seq)
        select each.entity, each.field, each.value, each.clock, cast(each.seq as bigint)
        from ${eachRow(tx, ['entity', 'field', 'value', 'clock', 'seq'], rows)}`.execute(tx);
    }
    await sql`insert into lane (queue, key, due_at, marks, attempts, since)
      select ${`sync:${provider}`}, record_id, ${NOW}, 1, 0, ${NOW} from link where provider = ${provider}`.execute(tx);
  });
  await store.close();
}

function factsOf(entity: string, seq: number): readonly Fact[] {
  const payload = fullStatePayload(sampleCompany(seq), new Date(NOW).toISOString());
  const facts = new Map<string, Fact>();
  for (const said of extract({ ...payload, entityId: entity }))
    facts.set(said.field, fold(facts.get(said.field), entity, said, seq).fact);
  return [...facts.values()];
}

/** Fills a new store with `count` links of blocked records: what arrives is applied, and no CRM is called. */
export async function withManyLinks(folder: string, provider: string, count: number, first: number): Promise<void> {
  const store = await openStore(fileIn(folder));
  await store.write(async (tx) => {
    const numbers = sql`with recursive number (n) as (select 0 union all select n + 1 from number where n + 1 < ${count})`;
    // Record ids in another order than the companies, as life has it.
    await sql`insert into link (provider, record_id, entity, state, desired, observed, created_at, updated_at)
      ${numbers} select ${provider}, 9000000000 + (n * 7919) % ${sql.lit(count)}, 'CVR-1-' || (${first} + n), 'active', 'on', 'on', ${NOW}, ${NOW}
      from number`.execute(tx);
    await sql`insert into fact (entity, field, value, clock, seq)
      ${numbers} select 'CVR-1-' || (${first} + n), 'phone', '{"scalar":"10000000"}', '2025-12-01T00:00:00.000Z', 0
      from number`.execute(tx);
    await sql`insert into rate_limit (key, next_at, blocked_until, reason)
      values (${`${provider}/*`}, 0, ${8e15}, 'bench')`.execute(tx);
  });
  await store.close();
}

/** Resolves when all that was accepted is applied, as another process sees it. */
export async function drained(folder: string, queue = 'apply'): Promise<void> {
  const db = new Database(fileIn(folder), { readonly: true });
  const left = db.prepare('select 1 from lane where queue = ? union all select 1 from arrival limit 1').pluck();
  while (left.get(queue) !== undefined) await sleep(10);
  db.close();
}
