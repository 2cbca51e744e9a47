/** The parent that each record should have, from known owners and links. */

import { sql } from 'kysely';
import { withoutPercent } from '../../protocol/text/trim.ts';
import { type PendingWrite, readPendingWrites } from '../../runtime/lanes/pending-writes.ts';
import { each, eachRow } from '../../store/each.ts';
import type { Db, Store, Tx } from '../../store/store.ts';
import { parentQueue } from '../names/queues.ts';
import { type Majority, majorityOf } from './majority.ts';

/** `leave`: the known owners imply nothing. `none`: the company has no majority owner any more. */
export type WantedParent =
  | { readonly kind: 'leave'; readonly why?: string }
  | { readonly kind: 'none'; readonly why: string }
  | { readonly kind: 'parent'; readonly id: string; readonly owner: string; readonly why: string };

export interface DesiredParent {
  readonly id: string;
  readonly entity: string;
  readonly given: string | null;
  readonly pending: readonly string[];
  readonly pendingWrites: readonly PendingWrite[];
  readonly wanted: WantedParent;
}

export const pendingParent = (parent: string | null): { readonly parent: string | null } => ({ parent });

function parentIn({ detail }: PendingWrite): string | null {
  const { parent }: ReturnType<typeof pendingParent> = JSON.parse(detail);
  return parent;
}

const HEIGHT = 20;

/**
 * Only for active records. Stores their owners first: an owner linked later finds these records by it, and one linked
 * before is seen here.
 */
export async function readDesiredParents(
  store: Store,
  provider: string,
  ids: readonly string[],
): Promise<readonly DesiredParent[]> {
  const { db } = store;
  const links = await db
    .selectFrom('link')
    .select(['record_id', 'entity'])
    .where('provider', '=', provider)
    .where('record_id', 'in', each(db, ids))
    .where('state', '=', 'active')
    .execute();
  if (links.length === 0) return [];
  const owners = await followOwners(db, [...new Set(links.map((link) => link.entity))]);
  const ownerOf = (entity: string): string | null => {
    const majority = owners.get(entity);
    return majority?.kind === 'owner' ? majority.entity : null;
  };
  const rows = links.map(({ record_id, entity }) => ({ id: record_id, owner: ownerOf(entity) }));
  await store.write((tx) => rememberOwners(tx, provider, rows));
  const known = await db
    .selectFrom('parent')
    .select(['record_id', 'parent_id', 'pending_id'])
    .where('provider', '=', provider)
    .where('record_id', 'in', each(db, ids))
    .execute();
  const oursOf = new Map(known.map((row) => [row.record_id, row]));
  const pendingOf = Map.groupBy(await readPendingWrites(db, parentQueue(provider), ids), ({ key }) => key);
  const recordsOf = await readRecords(db, provider, [...new Set(rows.flatMap(({ owner }) => owner ?? []))]);
  const standsFor = await readCompanies(db, provider, [...new Set(known.flatMap((row) => row.parent_id ?? []))]);
  return links.map(({ record_id: id, entity }) => {
    const { parent_id: given = null, pending_id = null } = oursOf.get(id) ?? {};
    const pendingWrites = pendingOf.get(id) ?? [];
    const pending = [...new Set([pending_id, ...pendingWrites.map(parentIn)])].filter((each) => each !== null);
    const majority = owners.get(entity) ?? { kind: 'unknown' };
    const wanted = wantedParent(entity, majority, { owners, recordsOf, given, standsFor });
    return { id, entity, given, pending, pendingWrites, wanted };
  });
}

interface OwnershipContext {
  readonly owners: ReadonlyMap<string, Majority>;
  readonly recordsOf: ReadonlyMap<string, readonly string[]>;
  readonly given: string | null;
  readonly standsFor: ReadonlyMap<string, string>;
}

function wantedParent(
  entity: string,
  majority: Majority,
  { owners, recordsOf, given, standsFor }: OwnershipContext,
): WantedParent {
  if (majority.kind === 'unknown') return { kind: 'leave' };
  if (majority.kind === 'none') return { kind: 'none', why: `no company owns more than half of ${entity} any more` };
  const { entity: owner, share } = majority;
  if (isCircle(entity, owners)) return { kind: 'leave', why: `${entity} and ${owner} own each other` };
  const records = recordsOf.get(owner) ?? [];
  const [record] = records;
  if (record !== undefined && records.length === 1)
    return { kind: 'parent', id: record, owner, why: `${owner} owns ${withoutPercent(share)} %` };
  // The owner has no record, or several without a known choice; another company's record is wrong anyway.
  if (given !== null && standsFor.get(given) !== owner)
    return { kind: 'none', why: `${owner} owns more than half of ${entity} now` };
  return records.length > 1 ? { kind: 'leave', why: `${owner} has ${records.length} records` } : { kind: 'leave' };
}

function isCircle(entity: string, owners: ReadonlyMap<string, Majority>): boolean {
  let at = owners.get(entity);
  for (let height = 0; height <= HEIGHT && at?.kind === 'owner'; height += 1) {
    if (at.entity === entity) return true;
    at = owners.get(at.entity);
  }
  return false;
}

async function followOwners(db: Db, entities: readonly string[]): Promise<ReadonlyMap<string, Majority>> {
  const owners = new Map<string, Majority>();
  let next = entities;
  for (let height = 0; height < HEIGHT && next.length > 0; height += 1) {
    const rows = await db
      .selectFrom('fact')
      .selectAll()
      .where('entity', 'in', each(db, next))
      .where('field', '=', 'owners')
      .execute();
    const facts = new Map(rows.map((row) => [row.entity, row]));
    for (const entity of next) {
      const row = facts.get(entity);
      owners.set(entity, majorityOf(row && { ...row, field: 'owners', value: JSON.parse(row.value) }));
    }
    const above = next.flatMap((entity) => {
      const majority = owners.get(entity);
      return majority?.kind === 'owner' && !owners.has(majority.entity) ? [majority.entity] : [];
    });
    next = [...new Set(above)];
  }
  return owners;
}

async function rememberOwners(
  tx: Tx,
  provider: string,
  rows: readonly { readonly id: string; readonly owner: string | null }[],
): Promise<void> {
  const sorted = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  await sql`insert into parent (provider, record_id, owner)
    select ${provider}, each.id, each.owner
    from ${eachRow(tx, ['id', 'owner'], sorted)} where true
    on conflict (provider, record_id) do update set owner = excluded.owner`.execute(tx);
}

async function readRecords(
  db: Db,
  provider: string,
  entities: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const links = await db
    .selectFrom('link')
    .select(['record_id', 'entity'])
    .where('entity', 'in', each(db, entities))
    .where('provider', '=', provider)
    .where('state', '=', 'active')
    .execute();
  const byCompany = Map.groupBy(links, (link) => link.entity);
  return new Map([...byCompany].map(([entity, own]) => [entity, own.map((link) => link.record_id)]));
}

async function readCompanies(db: Db, provider: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const links = await db
    .selectFrom('link')
    .select(['record_id', 'entity'])
    .where('provider', '=', provider)
    .where('record_id', 'in', each(db, ids))
    .execute();
  return new Map(links.map((link) => [link.record_id, link.entity]));
}
