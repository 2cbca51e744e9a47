/** Stores news, and finds them by their entities. */
import { setImmediate as breathe } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import { NEWS_TYPES, type NewsItemBody, type NewsType, newsTypeNamed } from '../../protocol/news.ts';
import { each, eachRow } from '../../store/each.ts';
import { readErasures } from '../../store/erasure/erasures.ts';
import { type Db, engineOf, type Tx } from '../../store/store.ts';
import { type NewsItem, PROMOTED_MS } from './wording/make.ts';

export interface NewsQuery {
  readonly ids: readonly string[];
  /** Both ends included. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly limit: number;
  readonly page: number;
  readonly types?: readonly NewsType[] | undefined;
  readonly orderBy: 'promoteduntil' | 'publishtime';
}

/** Entities per statement: SQLite answers on the main thread and blocks other work. */
const AT_A_TIME = 500;

/** The part of an item that is stored as JSON. */
type Body = Omit<NewsItem, 'id' | 'time' | 'promotedUntil' | 'type'>;

interface Place {
  readonly promoted_until: number;
  readonly time: number;
  readonly news: number;
}

/** Stores items in two statements. Does not change a stored item, and skips one that names an erased entity. */
export async function storeNews(tx: Tx, given: readonly NewsItem[]): Promise<void> {
  if (given.length === 0) return;
  const erasures = await readErasures(tx);
  const items = given.filter(({ entities }) => !entities.some(({ entityId }) => erasures.has(entityId)));
  if (items.length === 0) return;
  const rows = items.map(({ id, time, promotedUntil, type, ...body }) => {
    if (promotedUntil < time || promotedUntil > time + PROMOTED_MS)
      throw new Error(`news ${id} is not promoted from its time for ${PROMOTED_MS} ms at most: queries count on it`);
    const kept = erasures.redact(body satisfies Body);
    return { id, time, until: promotedUntil, type: NEWS_TYPES[type], body: JSON.stringify(kept) };
  });
  // "where true" keeps SQLite from reading the conflict clause as a join's.
  const { rows: stored } = await sql<{ seq: number; id: string }>`
    insert into news (id, time, promoted_until, type, body)
    select each.id, cast(each.time as bigint), cast(each.until as bigint), cast(each.type as bigint), each.body
    from ${eachRow(tx, ['id', 'time', 'until', 'type', 'body'], rows)} where true
    on conflict (id) do nothing returning seq, id`.execute(tx);
  const seqs = new Map(stored.map(({ id, seq }) => [id, seq]));
  const about = items.flatMap((item) => {
    const news = seqs.get(item.id);
    if (news === undefined) return [];
    const { time, promotedUntil: until } = item;
    return item.entities.map(({ entityId }) => ({ entity: entityId, until, time, type: NEWS_TYPES[item.type], news }));
  });
  if (about.length === 0) return;
  await sql`
    insert into news_entity (entity, promoted_until, time, type, news)
    select each.entity, cast(each.until as bigint), cast(each.time as bigint), cast(each.type as bigint),
      cast(each.news as bigint)
    from ${eachRow(tx, ['entity', 'until', 'time', 'type', 'news'], about)}`.execute(tx);
}

/**
 * One page of news about any of the entities, each item once. Newest first by `promotedUntil`, or by `time`; equal
 * ones in the order of storing. New items push older ones to later positions and never reorder them. Cost: reads each
 * entity's index entries of its newest `limit * page` items, and only the items of the page.
 */
export async function queryNews(db: Db, query: NewsQuery): Promise<readonly NewsItemBody[]> {
  const wanted = query.limit * query.page;
  const compare = query.orderBy === 'publishtime' ? byTime : byPromotion;
  let places: readonly Place[] = [];
  for (let at = 0; at < query.ids.length; at += AT_A_TIME) {
    if (at > 0) await breathe();
    // Entries after the last of a full list are not needed, so a further entity mostly costs one index look-up.
    const last = places.length === wanted ? places.at(-1) : undefined;
    const found = await newest(db, query, query.ids.slice(at, at + AT_A_TIME), last);
    const each = new Map([...places, ...found].map((place) => [place.news, place]));
    places = [...each.values()].sort(compare).slice(0, wanted);
  }
  return itemsAt(db, places.slice(wanted - query.limit), new Set(query.ids));
}

const byTime = (a: Place, b: Place): number => b.time - a.time || b.news - a.news;
const byPromotion = (a: Place, b: Place): number => b.promoted_until - a.promoted_until || byTime(a, b);

/** The first `limit * page` distinct positions of some entities' news, only those before `last`. */
async function newest(db: Db, query: NewsQuery, ids: readonly string[], last: Place | undefined): Promise<Place[]> {
  const wanted = query.limit * query.page;
  const byPublication = query.orderBy === 'publishtime';
  const key = sql.ref(byPublication ? 'time' : 'promoted_until');
  const order = (byPublication ? ['time', 'news'] : ['promoted_until', 'time', 'news']).map(sql.ref);
  const newestFirst = sql.join(order.map((column) => sql`${column} desc`));
  const isWanted = sql.join([sql`entity = wanted.value`, ...conditions(query, last)], sql` and `);
  const top = sql`select promoted_until, time, news from news_entity where ${isWanted} order by ${newestFirst} limit ${wanted}`;
  // SQLite has no lateral join: first find each entity's last wanted key, then everything up to it.
  const entities =
    engineOf(db) === 'postgres'
      ? sql`${each(db, ids)} as wanted cross join lateral (${top}) as news`
      : sql`(select value, (select ${key} from news_entity where ${isWanted}
          order by ${newestFirst} limit 1 offset ${wanted - 1}) as least from ${each(db, ids)} as wanted) as wanted
        cross join news_entity on ${isWanted} and ${key} >= coalesce(wanted.least, ${Number.MIN_SAFE_INTEGER})`;
  const { rows } = await sql<Place>`select distinct promoted_until, time, news from ${entities}
    order by ${newestFirst} limit ${wanted}`.execute(db);
  return rows;
}

function conditions(query: NewsQuery, last: Place | undefined): readonly RawBuilder<unknown>[] {
  const { from, to, types } = query;
  const ids = types?.map((type) => sql.lit(NEWS_TYPES[type]));
  return [
    // Bounds on promotion follow from those on time, and shorten the index range in the default order.
    ...(from === undefined ? [] : [sql`time >= ${from}`, sql`promoted_until >= ${from}`]),
    ...(to === undefined ? [] : [sql`time <= ${to}`, sql`promoted_until <= ${to + PROMOTED_MS}`]),
    ...(ids === undefined ? [] : [ids.length === 0 ? sql`false` : sql`type in (${sql.join(ids)})`]),
    ...(last === undefined ? [] : [beyond(query, last)]),
  ];
}

const beyond = (query: NewsQuery, { promoted_until, time, news }: Place): RawBuilder<unknown> =>
  query.orderBy === 'publishtime'
    ? sql`(time, news) > (${time}, ${news})`
    : sql`(promoted_until, time, news) > (${promoted_until}, ${time}, ${news})`;

async function itemsAt(db: Db, places: readonly Place[], asked: ReadonlySet<string>): Promise<readonly NewsItemBody[]> {
  if (places.length === 0) return [];
  const seqs = places.map(({ news }) => news);
  const rows = await db.selectFrom('news').selectAll().where('seq', 'in', numbers(db, seqs)).execute();
  const bySeq = new Map(rows.map((row) => [row.seq, row]));
  return seqs.flatMap((seq) => {
    const row = bySeq.get(seq);
    const type = row === undefined ? undefined : newsTypeNamed(row.type);
    if (row === undefined || type === undefined) return [];
    const body: Body = JSON.parse(row.body);
    return [itemOf(row, type, body, asked)];
  });
}

const numbers = (db: Db, values: readonly number[]): RawBuilder<number> =>
  sql<number>`(select cast(value as bigint) from ${each(db, values.map(String))} as seqs)`;

function itemOf(
  row: { readonly id: string; readonly time: number; readonly promoted_until: number },
  type: NewsType,
  body: Body,
  asked: ReadonlySet<string>,
): NewsItemBody {
  const { headline, content, tagLine, provider, providerData, url, imageId, storyId, entities } = body;
  return {
    headline,
    content,
    tagLine,
    time: new Date(row.time).toISOString(),
    promotedUntil: new Date(row.promoted_until).toISOString(),
    type,
    provider,
    providerData,
    url,
    imageId,
    storyId,
    uniqueId: row.id,
    entityIds: entities.map(({ entityId, name, isMainId }) => ({
      relatedEntityIdName: name,
      entityId,
      isMainId,
      inQuery: asked.has(entityId),
    })),
  };
}
