/** Finds companies by a number, a record's id, an address in the CRM, or a name. */
import { sql } from 'kysely';
import { entityIdIn, readCvrNumber } from '../../protocol/cvr-number.ts';
import { companyEntityId } from '../../protocol/entity-id.ts';
import { each } from '../../store/each.ts';
import type { Db } from '../../store/store.ts';
import { type IdReader, readRecordId } from '../crm/record-id.ts';
import type { RecordRef } from '../names/queues.ts';
import { companyNames } from './company-names.ts';

export interface FoundCompany {
  readonly entity: string;
  /** Undefined if neither the register nor the company index states it. */
  readonly name: string | undefined;
  readonly links: readonly (RecordRef & { readonly state: string })[];
}

export interface FoundCompanies {
  /** Whether the text is a number, a record's id or its address, which excludes other companies. */
  readonly exact: boolean;
  readonly companies: readonly FoundCompany[];
}

/** A text within a name is searched among so many names; among more, only at their beginnings. */
const MOST_NAMES = 20_000;
const MOST_PARTS = 20;

/** At most `limit` companies. Some indexed reads. */
export async function findCompanies(
  db: Db,
  readers: readonly IdReader[],
  { text, limit }: { readonly text: string; readonly limit: number },
): Promise<FoundCompanies> {
  const query = text.normalize('NFC').trim();
  if (query === '') return { exact: false, companies: [] };
  const exact = [...new Set([...(await byNumber(db, query)), ...(await byRecord(db, readers, query))])];
  const entities = exact.length > 0 ? exact : await byName(db, query, limit);
  return { exact: exact.length > 0, companies: await describeCompanies(db, entities.slice(0, limit)) };
}

async function describeCompanies(db: Db, entities: readonly string[]): Promise<readonly FoundCompany[]> {
  if (entities.length === 0) return [];
  const names = await companyNames(db, entities);
  const links = await db
    .selectFrom('link')
    .select(['entity', 'provider', 'record_id as recordId', 'state'])
    .where('entity', 'in', each(db, entities))
    .orderBy('provider')
    .orderBy('record_id')
    .execute();
  return entities.map((entity) => ({
    entity,
    name: names.get(entity),
    links: links
      .filter((each) => each.entity === entity)
      .map(({ provider, recordId, state }) => ({ provider, recordId, state })),
  }));
}

async function byNumber(db: Db, query: string): Promise<readonly string[]> {
  const cvr = readCvrNumber(query);
  const entity = entityIdIn(query) ?? (cvr.kind === 'lost-zero' ? companyEntityId(cvr.number) : undefined);
  if (entity === undefined) return [];
  const [fact] = await db.selectFrom('fact').select('entity').where('entity', '=', entity).limit(1).execute();
  const [link] = await db.selectFrom('link').select('entity').where('entity', '=', entity).limit(1).execute();
  const [receipt] = await db.selectFrom('receipt').select('entity').where('entity', '=', entity).limit(1).execute();
  return (fact ?? link ?? receipt) === undefined ? [] : [entity];
}

async function byRecord(db: Db, readers: readonly IdReader[], query: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const reader of readers) {
    const ids = partsOf(query, reader.name).flatMap((part) => {
      const read = readRecordId(reader, part);
      return read.kind === 'id' ? [read.id] : [];
    });
    if (ids.length === 0) continue;
    const rows = await db
      .selectFrom('link')
      .select('entity')
      .where('provider', '=', reader.name)
      .where('record_id', 'in', each(db, ids))
      .orderBy('record_id')
      .execute();
    found.push(...rows.map(({ entity }) => entity));
  }
  return found;
}

/** In HubSpot's addresses, a contact or a deal may have the id of a company, whose type is 0-2. */
const OBJECT = /\/(?:record\/([\w-]+)|contact|deal|ticket)\/\d/u;

function isOfOtherObject(address: string): boolean {
  const found = OBJECT.exec(address);
  return found !== null && found[1] !== '0-2';
}

/**
 * Parts of a text that may be a record's id: the whole text, the text after the connection's name, or parts of an
 * address.
 */
function partsOf(query: string, provider: string): readonly string[] {
  if (query.startsWith(`${provider}:`)) return [query.slice(provider.length + 1)];
  if (!query.includes('://')) return [query];
  if (isOfOtherObject(query)) return [];
  return query
    .split(/[/?&=#]+/)
    .filter((part) => /\d/.test(part))
    .slice(-MOST_PARTS);
}

async function byName(db: Db, query: string, limit: number): Promise<readonly string[]> {
  const names = db
    .selectFrom('fact')
    .select(['entity', sql<string>`lower(value)`.as('name')])
    // A literal: with a parameter, SQLite does not use the index of names.
    .where('field', '=', sql.lit<'name'>('name'))
    .orderBy(sql`lower(value)`);
  const spelled = spellings(query);
  const starting = await Promise.all(
    spelled.map((text) =>
      names
        .where(
          sql<boolean>`lower(value) >= ${BEFORE_NAME + text} and lower(value) < ${`${BEFORE_NAME}${text}\u{10FFFF}`}`,
        )
        .limit(limit)
        .execute(),
    ),
  );
  const found = starting.flat().map(({ entity }) => entity);
  if (found.length >= limit) return found;
  // Limited before the comparison: otherwise the engine searches a million names for a text that none has.
  const some = names.limit(MOST_NAMES).as('some');
  const within = await Promise.all(
    spelled.map((text) =>
      db
        .selectFrom(some)
        .select('entity')
        .where(sql<boolean>`name like ${`${BEFORE_NAME}%${text.replaceAll(/[\\%_]/g, '\\$&')}%`} escape '\\'`)
        .limit(limit)
        .execute(),
    ),
  );
  return [...new Set([...found, ...within.flat().map(({ entity }) => entity)])];
}

const BEFORE_NAME = '{"scalar":"';

/**
 * Spellings of a text in stored names. The engines lower only A to Z, so another first letter is searched in both
 * cases.
 */
function spellings(query: string): readonly string[] {
  const stored = (text: string): string =>
    JSON.stringify(text)
      .slice(1, -1)
      .replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  const first = [...query][0] ?? '';
  const rest = query.slice(first.length);
  const all = [query, first.toLocaleUpperCase('da') + rest, first.toLocaleLowerCase('da') + rest];
  return [...new Set(all.map(stored))];
}
