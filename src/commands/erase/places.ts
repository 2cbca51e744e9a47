/**
 * Where the store keeps data about a company, a production unit or a person: the rows that stand for it, and the rows
 * of others that name it.
 */
import { type RawBuilder, sql } from 'kysely';
import { parseEntityId } from '../../protocol/entity-id.ts';
import type { StoreSchema } from '../../store/schema.ts';
import type { Db } from '../../store/store.ts';
import type { EntityRow, StoreTables } from './pages.ts';

/** A table with data about entities. Every text column may name one, except those in `fixed`. */
export interface Place {
  own(entity: string): RawBuilder<boolean>;
  /** Columns with words of cvrsync, ids and times, and nothing that a register, a CRM or a person wrote. */
  readonly fixed: readonly string[];
  /**
   * The change of an erasure to rows of others: `redact` removes the entity from JSON and text, `clear` empties the
   * columns, and `delete` (the default) deletes the row, because nobody may act on a text that is no longer true.
   * `shorten` removes what names the entity from a JSON list, and deletes the row if nothing is left or the text is not
   * a list.
   */
  readonly others?: 'redact' | 'clear' | 'delete' | 'shorten';
  /**
   * The entities that a row is about. A name alone means the erased person only if one of them is related to it;
   * without this member it always does.
   */
  readonly owners?: (db: Db, row: EntityRow) => Promise<readonly string[]>;
  /** Rows that must stay as they are: how far a list was read, the owner of an account, sign-in data. */
  readonly except?: RawBuilder<boolean>;
}

/** Why the walk skips a table: what its text columns hold instead of entities. */
type Unwalked = string;

const byEntity = (entity: string): RawBuilder<boolean> => sql`entity = ${entity}`;
const none = (): RawBuilder<boolean> => sql`1 = 0`;
const byRecord = (entity: string): RawBuilder<boolean> =>
  sql`(provider, record_id) in (select provider, record_id from link where entity = ${entity})`;
const byChange = (entity: string): RawBuilder<boolean> =>
  sql`change in (select seq from change where entity = ${entity})`;

const byLane = (entity: string): RawBuilder<boolean> =>
  sql`(key = ${entity} or key like ${`%:${entity}`} or exists (select 1 from link where link.entity = ${entity} and
    (lane.key = link.provider || ':' || link.record_id or
    (lane.key = link.record_id and lane.queue like '%:' || link.provider))))`;

/** The company's number in the index; -1, which nobody has, if it is not numeric. */
const indexNumber = (entity: string): number => {
  const id = parseEntityId(entity);
  return id?.kind === 'company' || id?.kind === 'productionUnit' ? Number(id.number) : -1;
};

const keyLike = (...patterns: readonly string[]): RawBuilder<boolean> =>
  sql`(${sql.join(
    patterns.map((pattern) => sql`key like ${pattern}`),
    sql` or `,
  )})`;

const ofEntity: Place['owners'] = async (_, { entity }) => [String(entity)];
const ofRecord: Place['owners'] = async (db, { provider, record_id: id }) => {
  const { rows } = await sql<{ entity: string }>`select entity from link
    where provider = ${provider} and record_id = ${id}`.execute(db);
  return rows.map(({ entity }) => entity);
};
const ofChange: Place['owners'] = async (db, { change }) => {
  const { rows } = await sql<{ entity: string }>`select entity from change where seq = ${change}`.execute(db);
  return rows.map(({ entity }) => entity);
};
const ofNews: Place['owners'] = async (db, { seq }) => {
  const { rows } = await sql<{ entity: string }>`select entity from news_entity where news = ${seq}`.execute(db);
  return rows.map(({ entity }) => entity);
};

const RECORD = ['provider', 'record_id'];

/** Every table, in the order of the data flow: what came in, what is known, what was written, what was sent. */
export const PLACES = {
  arrival: { own: none, fixed: ['trace'], others: 'redact' },
  receipt: {
    own: byEntity,
    fixed: ['dedupe_key', 'entity', 'timestamp', 'digest', 'trace'],
    others: 'redact',
    owners: ofEntity,
  },
  quarantine: { own: none, fixed: ['source'] },
  snapshot: { own: byEntity, fixed: ['entity', 'origins', 'digest', 'loaded_at'], others: 'redact', owners: ofEntity },
  second_reading: {
    own: byEntity,
    fixed: ['entity', 'origin', 'digest', 'loaded_at', 'differs'],
    others: 'redact',
    owners: ofEntity,
  },
  merger_party: { own: byEntity, fixed: ['organisation', 'entity'] },
  filing: {
    own: byEntity,
    fixed: ['id', 'entity', 'period_start', 'period_end', 'published_at'],
    others: 'redact',
    owners: ofEntity,
  },
  news_entity: {
    own: (entity) => sql`news in (select news from news_entity where entity = ${entity})`,
    fixed: ['entity'],
  },
  news: {
    own: (entity) => sql`seq in (select news from news_entity where entity = ${entity})`,
    fixed: ['id'],
    others: 'redact',
    owners: ofNews,
  },
  fact: { own: byEntity, fixed: ['entity', 'field', 'clock'], others: 'redact', owners: ofEntity },
  known_value: { own: byEntity, fixed: ['entity', 'field', 'digest'], owners: ofEntity },
  link: {
    own: byEntity,
    fixed: [...RECORD, 'entity', 'state', 'desired', 'observed', 'origin', 'trust'],
    others: 'clear',
  },
  parent: { own: byRecord, fixed: [...RECORD, 'parent_id', 'pending_id'], others: 'clear' },
  override: { own: byRecord, fixed: [...RECORD, 'property', 'kind', 'origin', 'placed_via'], others: 'clear' },
  written: { own: byRecord, fixed: RECORD, others: 'redact', owners: ofRecord },
  property_state: { own: byRecord, fixed: [...RECORD, 'property', 'refused_schema', 'kept_with'], owners: ofRecord },
  pending_write: {
    own: (entity) =>
      sql`exists (select 1 from link where link.entity = ${entity} and link.record_id = pending_write.key
        and pending_write.queue in ('sync:' || link.provider, 'note:' || link.provider, 'parent:' || link.provider))`,
    fixed: ['queue', 'key'],
  },
  history: {
    own: byEntity,
    fixed: [...RECORD, 'entity', 'rule', 'outcome'],
    others: 'shorten',
    owners: ofEntity,
  },
  note: {
    own: byEntity,
    fixed: [...RECORD, 'marker', 'entity', 'state', 'note_id'],
    others: 'redact',
    owners: ofEntity,
  },
  scan: {
    own: (entity) => sql`(entity = ${entity} or ${byRecord(entity)})`,
    fixed: [...RECORD, 'purpose', 'entity', 'verdict', 'action', 'state'],
  },
  scan_item: { own: byEntity, fixed: [...RECORD, 'entity'] },
  plan_skip: { own: byEntity, fixed: [...RECORD, 'entity'] },
  // With the keys of its entries, which name others by a number: erase/index-entries.ts.
  match_entry: { own: (entity) => sql`number = ${indexNumber(entity)}`, fixed: ['body'] },
  match_result: {
    own: (entity) => sql`(entity = ${entity} or ${byRecord(entity)})`,
    fixed: [...RECORD, 'confidence', 'entity'],
  },
  match_rejection: { own: byEntity, fixed: [...RECORD, 'entity'] },
  item: { own: byEntity, fixed: ['monitor', 'entity', 'record_id'] },
  change: {
    own: byEntity,
    fixed: ['id', 'entity', 'name', 'kind', 'timestamp', 'trace'],
    others: 'redact',
    owners: ofEntity,
  },
  delivery: { own: byEntity, fixed: ['monitor', 'entity', 'events', 'state'], others: 'clear' },
  attempt: {
    own: (entity) => sql`delivery in (select seq from delivery where entity = ${entity})`,
    fixed: [],
    others: 'clear',
  },
  mail: { own: byChange, fixed: ['monitor', 'recipient', 'kind', 'message'], others: 'redact', owners: ofChange },
  unsubscribed: { own: none, fixed: ['monitor', 'recipient'], others: 'redact' },
  lane: { own: byLane, fixed: ['queue', 'key'], others: 'clear' },
  audit: { own: none, fixed: ['actor_kind', 'actor', 'via', 'action'], others: 'redact' },
  // A record that `transfer` was about to create, if it is not known whether the CRM did. The values say where to
  // resume.
  kv: {
    own: (entity) => sql`key like ${`transfer:%:${entity}`}`,
    fixed: ['key'],
    others: 'redact',
    except: keyLike(
      ...['account:%', 'backfill:%', 'batch/%', 'begun %', 'changes:%', 'cursor:%', 'daemons:%', 'erasure:%'],
      ...['housekeeping:%', 'mark-all:%', 'match-%', 'news %', 'notes:%', 'reports', 'sweep:%', '%/%'],
    ),
  },
  // It may hold the addresses of alert recipients.
  config_version: { own: none, fixed: ['digest', 'accepted_by', 'digests'], others: 'redact' },
  run: { own: none, fixed: ['task', 'stage', 'state', 'actor_kind', 'actor'] },
  run_item: { own: none, fixed: ['kind'] },
  review_answer: { own: none, fixed: ['verb'] },
  alert: { own: none, fixed: ['channel'] },
  rate_limit: { own: none, fixed: ['key', 'fault'], others: 'clear' },
  // The content of a form that a sign-in interrupted.
  sign_on: { own: none, fixed: ['hash', 'nonce', 'verifier'] },
  // Operators set the addresses of recipients and webhooks, and secrets: `cvrsync monitors` changes them.
  monitor: {
    own: none,
    fixed: [
      ...['id', 'owner', 'provider', 'target', 'events', 'url', 'security', 'schedule', 'emails', 'mail_frequency'],
      'disabled_reason',
    ],
    others: 'redact',
  },
  api_key: { own: none, fixed: ['id', 'hash', 'scopes'], others: 'redact' },
  session: { own: none, fixed: ['hash', 'operator'], others: 'redact' },
  call_window: 'ids of our limits and of keys',
  daemon: 'host names, process ids and digests of daemons',
  erasure: 'digests; `rest` names the entity until its erasure ends',
  login_link: 'digests, and names of operators',
  match_key: 'numbers',
  match_key_staged: 'numbers',
  activity: 'counts by the hour and the day',
  operator: 'names that people chose to sign in by, and digests: `cvrsync operators` shows and revokes them',
} as const satisfies Readonly<Record<keyof StoreSchema, Place | Unwalked>>;

/** The tables with data about entities, in that order. */
export const PLACE_OF_TABLE: readonly (readonly [string, Place])[] = Object.entries(PLACES).flatMap(
  ([table, place]): readonly (readonly [string, Place])[] => (typeof place === 'string' ? [] : [[table, place]]),
);

/**
 * Whether a column contains a text, in any case. Engines fold the case of ASCII only, and a letter with a mark is one
 * character or two: the pattern accepts anything in place of other characters, so the caller must check what it finds.
 */
export const contains = (column: string, text: string): RawBuilder<boolean> => {
  const parts = text.normalize('NFC').toLowerCase().split(OTHER_THAN_ASCII);
  const pattern = parts.map((part) => part.replaceAll(/[%_\\]/g, String.raw`\$&`)).join('%');
  return sql`lower(${sql.ref(column)}) like ${`%${pattern}%`} escape '\\'`;
};

/** With the preceding character, which a mark may belong to. */
const OTHER_THAN_ASCII = /\p{ASCII}?\P{ASCII}+/u;

export const numbersOf = (entities: readonly string[]): readonly string[] =>
  entities.flatMap((entity) => /^CVR-[123]-(\d+)$/.exec(entity)?.[1] ?? []);

/** The columns of a table whose texts may name an entity. */
export const walkedColumns = ({ layout }: StoreTables, table: string, { fixed }: Place): readonly string[] =>
  (layout.get(table)?.texts ?? []).filter((column) => !fixed.includes(column));
