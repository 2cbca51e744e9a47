/**
 * Where the store keeps what concerns a company, a production unit or a person: the rows that stand for it, and the rows of
 * others that name it.
 */
import { type RawBuilder, sql } from 'kysely';
import { parseEntityId } from '../../protocol/entity-id.ts';
import type { StoreSchema } from '../../store/schema.ts';
import type { Db } from '../../store/store.ts';

/** The rows of one table. */
export interface KeptRows {
  readonly table: string;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

interface Place {
  /** The rows that stand for the entity. */
  own(entity: string): RawBuilder<boolean>;
  /** The columns whose texts may name an entity of another's row. */
  readonly mentions?: readonly string[];
}

const byEntity = (entity: string): RawBuilder<boolean> => sql`entity = ${entity}`;
const none = (): RawBuilder<boolean> => sql`1 = 0`;
const byRecord = (entity: string): RawBuilder<boolean> =>
  sql`(provider, record_id) in (select provider, record_id from link where entity = ${entity})`;
const byChange = (entity: string): RawBuilder<boolean> =>
  sql`change in (select seq from change where entity = ${entity})`;

/** Its number in the company index; one that is no number there is nobody's. */
const indexNumber = (entity: string): number => {
  const id = parseEntityId(entity);
  return id?.kind === 'company' || id?.kind === 'productionUnit' ? Number(id.number) : -1;
};

/** Every table, in the order of the way of the data: what came in, what is known, what was written, what was sent. */
const PLACES: Readonly<Record<keyof StoreSchema, Place | undefined>> = {
  arrival: { own: none, mentions: ['body'] },
  receipt: { own: byEntity, mentions: ['body'] },
  quarantine: { own: none, mentions: ['subject', 'body'] },
  snapshot: { own: byEntity, mentions: ['body'] },
  merger_party: { own: byEntity },
  filing: { own: byEntity, mentions: ['data'] },
  news_entity: { own: byEntity },
  news: {
    own: (entity) => sql`seq in (select news from news_entity where entity = ${entity})`,
    mentions: ['body'],
  },
  fact: { own: byEntity, mentions: ['value'] },
  known_value: { own: byEntity, mentions: ['value'] },
  link: { own: byEntity, mentions: ['mismatch', 'reason'] },
  parent: { own: byRecord, mentions: ['owner'] },
  override: { own: byRecord },
  property_state: { own: byRecord, mentions: ['written', 'refused', 'kept', 'offered', 'refused_over'] },
  pending_write: {
    own: (entity) =>
      sql`exists (select 1 from link where link.entity = ${entity} and link.record_id = pending_write.key
        and pending_write.queue in ('sync:' || link.provider, 'note:' || link.provider, 'parent:' || link.provider))`,
    mentions: ['detail'],
  },
  history: { own: byEntity, mentions: ['old_value', 'new_value', 'detail'] },
  note: { own: byEntity, mentions: ['subject', 'body'] },
  scan: { own: byEntity, mentions: ['detail'] },
  scan_item: { own: byEntity },
  plan_skip: { own: byEntity },
  match_entry: { own: (entity) => sql`number = ${indexNumber(entity)}` },
  match_result: { own: byEntity },
  match_rejection: { own: byEntity },
  item: { own: byEntity },
  change: { own: byEntity, mentions: ['updates'] },
  delivery: { own: byEntity },
  attempt: {
    own: (entity) => sql`delivery in (select seq from delivery where entity = ${entity})`,
    mentions: ['answer'],
  },
  mail: { own: byChange, mentions: ['body'] },
  lane: { own: none, mentions: ['key', 'error'] },
  audit: { own: (entity) => sql`subject = ${entity}`, mentions: ['subject', 'detail'] },
  run_item: { own: none, mentions: ['key', 'detail'] },
  // About this installation and its operators, or without a text of an entity.
  alert: undefined,
  api_key: undefined,
  call_window: undefined,
  daemon: undefined,
  kv: undefined,
  login_link: undefined,
  match_key: undefined,
  match_key_staged: undefined,
  monitor: undefined,
  operator: undefined,
  rate_limit: undefined,
  run: undefined,
  session: undefined,
  sign_on: undefined,
  unsubscribed: undefined,
};

/**
 * Reads table after table. With `mentions` also the rows of others that name the entity by its id: those of a person, who owns few
 * rows. That reads every text of the tables; without it, indexes suffice for most.
 */
export async function* readKeptRows(
  db: Db,
  entity: string,
  { mentions }: { readonly mentions: boolean },
): AsyncGenerator<KeptRows> {
  for (const [table, place] of Object.entries(PLACES)) {
    if (place === undefined) continue;
    const named = mentions ? (place.mentions ?? []) : [];
    // Ids have no character that LIKE reads as another one but the underscore of a data source.
    const pattern = `%${entity.replaceAll('_', String.raw`\_`)}%`;
    const conditions = [
      place.own(entity),
      ...named.map((column) => sql<boolean>`${sql.ref(column)} like ${pattern} escape '\\'`),
    ];
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(table)}
      where ${sql.join(conditions, sql` or `)}`.execute(db);
    if (rows.length > 0) yield { table, rows };
  }
}
