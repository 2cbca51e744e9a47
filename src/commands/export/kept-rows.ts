/**
 * Where the store keeps what concerns a company, a production unit or a person: the rows that stand for it, and the rows of
 * others that name it.
 */
import { type RawBuilder, sql } from 'kysely';
import { parseEntityId } from '../../protocol/entity-id.ts';
import type { StoreSchema } from '../../store/schema.ts';
import type { Db } from '../../store/store.ts';
import { hasWord } from './words.ts';

/** The rows of one table. */
export interface KeptRows {
  readonly table: string;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

/** A place where the store keeps what concerns an entity. */
export interface Place {
  /** The rows that stand for the entity. */
  own(entity: string): RawBuilder<boolean>;
  /** The columns whose texts may name an entity of another's row. */
  readonly mentions?: readonly string[];
  /** Those of them that hold a document of the register: it names entities by their numbers, without the rest of the id. */
  readonly documents?: readonly string[];
  /**
   * What an erasure does with those rows: `redact` takes the entity out of JSON and text, `clear` empties the columns, and
   * `delete` (where absent) deletes the row: what rests on a text that is not true any more must not be acted upon.
   * `shorten` takes what names it out of a JSON list, and deletes the row where nothing is left or the text is no list.
   */
  readonly others?: 'redact' | 'clear' | 'delete' | 'shorten';
  /**
   * Where the columns may name the entity by its name alone: in rows of those who name it by its id elsewhere, or, where no
   * decision rests on the rows, in any, by its number too.
   */
  readonly text?: 'related' | 'everywhere';
}

const byEntity = (entity: string): RawBuilder<boolean> => sql`entity = ${entity}`;
const none = (): RawBuilder<boolean> => sql`1 = 0`;
const byRecord = (entity: string): RawBuilder<boolean> =>
  sql`(provider, record_id) in (select provider, record_id from link where entity = ${entity})`;
const byChange = (entity: string): RawBuilder<boolean> =>
  sql`change in (select seq from change where entity = ${entity})`;

/** Lanes of the entity, and of its records. */
const byLane = (entity: string): RawBuilder<boolean> =>
  sql`(key = ${entity} or key like ${`%:${entity}`} or exists (select 1 from link where link.entity = ${entity} and
    (lane.key = link.provider || ':' || link.record_id or
    (lane.key = link.record_id and lane.queue like '%:' || link.provider))))`;

/** Its number in the company index; one that is no number there is nobody's. */
const indexNumber = (entity: string): number => {
  const id = parseEntityId(entity);
  return id?.kind === 'company' || id?.kind === 'productionUnit' ? Number(id.number) : -1;
};

/** Every table, in the order of the way of the data: what came in, what is known, what was written, what was sent. */
export const PLACES = {
  arrival: { own: none, mentions: ['body'], others: 'redact' },
  receipt: { own: byEntity, mentions: ['body'], others: 'redact' },
  quarantine: { own: none, mentions: ['subject', 'body'], text: 'everywhere' },
  snapshot: { own: byEntity, mentions: ['body', 'ahead'], documents: ['ahead'], others: 'redact' },
  merger_party: { own: byEntity },
  filing: { own: byEntity, mentions: ['data', 'record'], others: 'redact' },
  news_entity: { own: (entity) => sql`news in (select news from news_entity where entity = ${entity})` },
  news: {
    own: (entity) => sql`seq in (select news from news_entity where entity = ${entity})`,
    mentions: ['body'],
    others: 'redact',
    text: 'related',
  },
  fact: { own: byEntity, mentions: ['value'], others: 'redact' },
  known_value: { own: byEntity, mentions: ['value'] },
  link: { own: byEntity, mentions: ['mismatch', 'reason'], others: 'clear' },
  parent: { own: byRecord, mentions: ['owner'], others: 'clear' },
  override: { own: byRecord, mentions: ['reason', 'seen'], others: 'clear', text: 'everywhere' },
  written: { own: byRecord, mentions: ['properties'], others: 'redact', text: 'related' },
  property_state: {
    own: byRecord,
    mentions: ['refused', 'kept', 'offered', 'refused_over', 'overwritten', 'kept_by'],
    text: 'related',
  },
  pending_write: {
    own: (entity) =>
      sql`exists (select 1 from link where link.entity = ${entity} and link.record_id = pending_write.key
        and pending_write.queue in ('sync:' || link.provider, 'note:' || link.provider, 'parent:' || link.provider))`,
    mentions: ['detail'],
  },
  history: { own: byEntity, mentions: ['lines', 'detail'], others: 'shorten', text: 'related' },
  note: { own: byEntity, mentions: ['subject', 'body'], others: 'redact', text: 'related' },
  scan: {
    own: (entity) => sql`(entity = ${entity} or ${byRecord(entity)})`,
    mentions: ['found', 'detail'],
    text: 'everywhere',
  },
  scan_item: { own: byEntity },
  plan_skip: { own: byEntity },
  match_entry: { own: (entity) => sql`number = ${indexNumber(entity)}` },
  match_result: {
    own: (entity) => sql`(entity = ${entity} or ${byRecord(entity)})`,
    mentions: ['body'],
    text: 'everywhere',
  },
  match_rejection: { own: byEntity },
  item: { own: byEntity },
  change: { own: byEntity, mentions: ['updates'], others: 'redact' },
  delivery: { own: byEntity },
  attempt: {
    own: (entity) => sql`delivery in (select seq from delivery where entity = ${entity})`,
    mentions: ['answer'],
    others: 'clear',
  },
  mail: { own: byChange, mentions: ['body'], others: 'redact', text: 'related' },
  lane: { own: byLane, mentions: ['error'], others: 'clear', text: 'everywhere' },
  audit: { own: none, mentions: ['subject', 'detail'], others: 'clear', text: 'everywhere' },
  // A record that `transfer` was about to create, where nobody knows whether the CRM took it.
  kv: { own: (entity) => sql`key like ${`transfer:%:${entity}`}` },
  run: { own: none, mentions: ['input', 'error'], text: 'everywhere' },
  run_item: { own: none, mentions: ['key', 'detail'], text: 'everywhere' },
  alert: { own: none, mentions: ['key', 'what'], text: 'everywhere' },
  // About this installation and its operators, or without a text of an entity.
  api_key: undefined,
  call_window: undefined,
  daemon: undefined,
  erasure: undefined,
  login_link: undefined,
  match_key: undefined,
  match_key_staged: undefined,
  monitor: undefined,
  operator: undefined,
  rate_limit: undefined,
  session: undefined,
  sign_on: undefined,
  unsubscribed: undefined,
} as const satisfies Readonly<Record<keyof StoreSchema, Place | undefined>>;

/** The tables that keep something of entities, in that order. */
export const PLACE_OF_TABLE: readonly (readonly [string, Place])[] = Object.entries(PLACES).flatMap(
  ([table, place]): readonly (readonly [string, Place])[] => (place === undefined ? [] : [[table, place]]),
);

/**
 * Whether a column has a text somewhere, in whatever case. Engines fold the case of ASCII alone, and a letter with a mark is
 * one character or two: whatever stands in the place of others is taken for them, so that what is found must be looked at.
 */
export const contains = (column: string, text: string): RawBuilder<boolean> => {
  const parts = text.normalize('NFC').toLowerCase().split(OTHER_THAN_ASCII);
  const pattern = parts.map((part) => part.replaceAll(/[%_\\]/g, String.raw`\$&`)).join('%');
  return sql`lower(${sql.ref(column)}) like ${`%${pattern}%`} escape '\\'`;
};

/** With the character before, which a mark may belong to. */
const OTHER_THAN_ASCII = /\p{ASCII}?\P{ASCII}+/u;

/**
 * Reads table after table, for an entity and what goes along with it. With `mentions` also the rows of others that name one of them by
 * its id: those of a person, who owns few rows. That reads every text of the tables; without it, indexes suffice for most.
 */
export async function* readKeptRows(
  db: Db,
  entities: readonly string[],
  { mentions }: { readonly mentions: boolean },
): AsyncGenerator<KeptRows> {
  for (const [table, place] of PLACE_OF_TABLE) {
    const named = mentions ? (place.mentions ?? []) : [];
    const rows = await select(
      db,
      table,
      entities.flatMap((entity) => [place.own(entity), ...named.map((column) => contains(column, entity))]),
    );
    const numbered = mentions ? await rowsWithNumbers(db, table, place, numbersOf(entities)) : [];
    const distinct = new Map([...rows, ...numbered].map((row) => [JSON.stringify(row), row]));
    if (distinct.size > 0) yield { table, rows: [...distinct.values()] };
  }
}

/** The rows whose documents have one of the numbers in them, whole. */
async function rowsWithNumbers(
  db: Db,
  table: string,
  { documents = [] }: Place,
  numbers: readonly string[],
): Promise<KeptRows['rows']> {
  const having = documents.flatMap((column) => numbers.map((number) => contains(column, number)));
  const isWhole = (text: unknown): boolean => typeof text === 'string' && hasWord(text, numbers);
  return (await select(db, table, having)).filter((row) => documents.some((column) => isWhole(row[column])));
}

/** The numbers that entities have in the register. */
export const numbersOf = (entities: readonly string[]): readonly string[] =>
  entities.flatMap((entity) => /^CVR-[123]-(\d+)$/.exec(entity)?.[1] ?? []);

/** The rows of a table that meet any of the conditions. */
export async function select(
  db: Db,
  table: string,
  conditions: readonly RawBuilder<boolean>[],
): Promise<KeptRows['rows']> {
  if (conditions.length === 0) return [];
  const { rows } = await sql<KeptRows['rows'][number]>`select * from ${sql.table(table)}
    where ${sql.join(conditions, sql` or `)}`.execute(db);
  return rows;
}
