/** `POST /modules/news`: news about companies and persons. */
import Type from 'typebox';
import { HttpError } from '../../http/server/error.ts';
import type { Server } from '../../http/server/server.ts';
import { canonicalEntityId } from '../../protocol/entity-id.ts';
import { NEWS_TYPE_NAMES, NEWS_TYPES, type NewsType, newsItem, newsTypeNamed } from '../../protocol/news.ts';
import { normaliseTime } from '../../protocol/text/time.ts';
import type { Store } from '../../store/store.ts';
import { type NewsQuery, queryNews } from '../news/store.ts';
import type { Access } from './access.ts';
import { foldQueryNames, readRequests } from './requests.ts';
import { failure, KEY_FAILURES, KEY_SECURITY, unprocessable } from './schemas.ts';

export interface NewsRouteDeps {
  readonly store: Pick<Store, 'db'>;
  readonly access: Pick<Access, 'guard'>;
}

const MOST_IDS = 100_000;
/** The most ids, all of the longest form, take about 2.5 MB. */
const BODY_LIMIT = 4 * 1024 * 1024;
/** The most that `limit` times `page` may be. */
const DEEPEST = 10_000;
const NAMED = 10;

const querystring = Type.Object({
  from: Type.Optional(
    Type.String({
      description: 'Only news published at or after this time; ISO 8601, UTC where no zone is stated.',
      examples: ['2026-03-01T00:00:00Z'],
    }),
  ),
  to: Type.Optional(
    Type.String({
      description: 'Only news published at or before this time; ISO 8601, UTC where no zone is stated.',
      examples: ['2026-03-31T23:59:59Z'],
    }),
  ),
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 30, description: 'Most items of a page.' }),
  page: Type.Integer({
    minimum: 1,
    maximum: DEEPEST,
    default: 1,
    description: `Page of results, from 1 on. limit × page may be ${DEEPEST} at most: use \`to\` to go further back.`,
  }),
  types: Type.Optional(
    Type.String({
      maxLength: 1_000,
      description: `Only these types: ids or names in any case, separated by commas. ${NEWS_TYPE_NAMES.map((name) => `${NEWS_TYPES[name]} ${name}`).join(', ')}.`,
      examples: ['Ownership,28'],
    }),
  ),
  orderBy: Type.String({
    default: 'promoteduntil',
    description:
      'promoteduntil: by the time until which items are promoted, the latest first. publishtime: by the time of publication, the latest first. In any case.',
    examples: ['publishtime'],
  }),
});

const body = Type.Array(Type.String(), {
  maxItems: MOST_IDS,
  description: `Entity ids of companies and persons, ${MOST_IDS} at most; case and repeats do not matter. Of ids that nothing is known about there is no news.`,
  examples: [['CVR-1-10000001', 'CVR-3-4000000001']],
});

/** Adds the endpoint. It checks for a key with the scope `news` first. */
export function addNewsRoutes(server: Server, { store, access }: NewsRouteDeps): void {
  server.register(async (scope) => {
    readRequests(scope);
    scope.addHook('onRequest', access.guard('news'));
    foldQueryNames(scope, Object.keys(querystring.properties));
    addGetNews(scope, store);
  });
}

function addGetNews(scope: Server, store: NewsRouteDeps['store']): void {
  scope.post(
    '/modules/news',
    {
      bodyLimit: BODY_LIMIT,
      schema: {
        tags: ['news'],
        operationId: 'getNews',
        summary: 'News about companies and persons',
        description:
          'Items about any of the entities, each once; inQuery marks those that were asked for. The names of the parameters may be in any case; each is given once. headline and tagLine are plain text, content is HTML; all three hold tokens {name|entityId}, which a client replaces with the name or with a link. Escape headline and tagLine before they are put into a page. New items push older ones to later places; the order of items does not change.',
        security: KEY_SECURITY,
        querystring,
        body,
        response: {
          200: Type.Array(newsItem, { description: 'One page; empty after the last.' }),
          ...KEY_FAILURES,
          400: failure('Several access keys that differ, or a body that is not JSON'),
          413: failure(`A body over ${BODY_LIMIT / 1024 / 1024} MiB`),
          415: failure('A body that is not application/json'),
          422: failure('A parameter, the body or an id cannot be read; `errors` names each, of ids the first ones'),
        },
      },
    },
    async (request) => {
      const { from, to, types, limit, page, orderBy } = request.query;
      if (limit * page > DEEPEST)
        throw unprocessable('querystring.page', `goes too far: limit × page may be ${DEEPEST} at most, use to`);
      const earliest = readTime(from, 'querystring.from');
      const latest = readTime(to, 'querystring.to');
      const wanted = readTypes(types);
      const news = await queryNews(store.db, {
        ids: readIds(request.body),
        limit,
        page,
        orderBy: readOrder(orderBy),
        from: earliest,
        to: latest,
        types: wanted,
      });
      return [...news];
    },
  );
}

/** In a query an unescaped `+` arrives as a space. */
const LOST_PLUS = /(T\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?) (\d\d:?\d\d)$/i;

function readTime(text: string | undefined, path: string): number | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const time = normaliseTime(text.replace(LOST_PLUS, '$1+$2'));
  if (time === undefined) throw unprocessable(path, 'is not an ISO 8601 time such as 2026-03-01T00:00:00Z');
  return Date.parse(time);
}

/** Undefined: all types. */
function readTypes(text: string | undefined): readonly NewsType[] | undefined {
  const asked = (text ?? '').split(',').flatMap((part) => part.trim() || []);
  const known = asked.flatMap((part) => newsTypeNamed(part) ?? []);
  if (known.length < asked.length) {
    const list = NEWS_TYPE_NAMES.map((name) => `${NEWS_TYPES[name]} ${name}`).join(', ');
    throw unprocessable('querystring.types', `names a type that is not known: there are ${list}`);
  }
  return asked.length === 0 ? undefined : [...new Set(known)];
}

function readOrder(text: string): NewsQuery['orderBy'] {
  const order = text.trim().toLowerCase();
  if (order === 'promoteduntil' || order === 'publishtime') return order;
  throw unprocessable('querystring.orderBy', 'is neither promoteduntil nor publishtime');
}

function readIds(texts: readonly string[]): readonly string[] {
  const ids = new Set<string>();
  const wrong: number[] = [];
  texts.forEach((text, at) => {
    const id = canonicalEntityId(text);
    if (id === undefined) wrong.push(at);
    else ids.add(id);
  });
  if (wrong.length === 0) return [...ids];
  const number = wrong.length === 1 ? 'One id is' : `${wrong.length} ids are`;
  throw new HttpError(422, `The request is not valid: ${number} none such as CVR-1-12345678.`, {
    errors: wrong.slice(0, NAMED).map((at) => ({ path: `body.${at}`, message: 'is not an entity id' })),
  });
}
