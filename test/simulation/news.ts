/** The news endpoint returns what was sent: each change of master data is one item, and each item was sent. */
import type { NewsItemBody } from '../../src/protocol/news.ts';
import { changeIn } from './oracle.ts';
import type { Post } from './receiver.ts';
import type { World } from './world.ts';

/** Changes that are always news. */
const NEWS: readonly string[] = ['name', 'address', 'phoneNumber', 'email', 'fax', 'website', 'purpose'];
const PER_PAGE = 200;

/** Asks a daemon for all news of the companies; undefined if it died meanwhile. */
export async function readNews({ time, machines, companies, newsKey }: World): Promise<NewsItemBody[] | undefined> {
  const daemon = machines.running()[0]?.daemon;
  if (daemon === undefined) return undefined;
  const items: NewsItemBody[] = [];
  for (let page = 1; ; page += 1) {
    const url = new URL(`http://daemon.sim/modules/news?limit=${PER_PAGE}&page=${page}&orderBy=publishtime`);
    const headers = { 'content-type': 'application/json', 'x-access-key': newsKey };
    const body = JSON.stringify([...companies.keys()]);
    const request = { method: 'POST', path: `${url.pathname}${url.search}`, url, headers, body };
    const answer = await time.until(
      Promise.race([time.as(daemon.owner, () => daemon.handle(request)), daemon.owner.died]),
    );
    if (answer === undefined) return undefined;
    if (answer.status !== 200) throw new Error(`the news are not answered: ${answer.status} ${answer.body}`);
    const found: NewsItemBody[] = JSON.parse(String(answer.body));
    items.push(...found);
    if (found.length < PER_PAGE) return items;
  }
}

export function wrongNews(items: readonly NewsItemBody[], posts: readonly Post[]): readonly string[] {
  const told = Map.groupBy(new Map(posts.map((post) => [post.id, post])).values(), keyOf);
  const main = items.filter(({ type }) => type === 'Information').map((item) => ({ ...item, ...aboutOf(item) }));
  const news = Map.groupBy(main, keyOf);
  // The register may take a change back under the same time.
  const untold = [...news].filter(([key, some]) => some.length > (told.get(key)?.length ?? 0));
  const missing = [...told].filter(([key, some]) => some.filter(isNews).length > (news.get(key)?.length ?? 0));
  return [
    ...untold.map(([key, [item]]) => `${key} is news, and was not told so often: ${item?.headline}`),
    ...missing.map(([key]) => `${key} was told, and is no news`),
  ];
}

const aboutOf = ({ entityIds, time }: NewsItemBody) => ({
  entity: entityIds.find(({ isMainId }) => isMainId)?.entityId ?? '',
  timestamp: time,
});

const isNews = ({ updates }: Post): boolean => NEWS.some((event) => changeIn(updates, event) !== undefined);

const keyOf = ({ entity, timestamp }: Pick<Post, 'entity' | 'timestamp'>): string =>
  `${entity} ${Date.parse(timestamp)}`;
