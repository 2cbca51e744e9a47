/** All sources of the service, each read once, in a process that dies of some of their texts. */
import { openClient } from '../../src/http/outbound/client.ts';
import { claim } from '../../src/runtime/lanes/lanes.ts';
import type { Change } from '../../src/service/changes/change.ts';
import { pollGazette } from '../../src/service/feeds/gazette.ts';
import { pollTask } from '../../src/service/feeds/poll.ts';
import { pollPress } from '../../src/service/feeds/press.ts';
import { publish } from '../../src/service/publish/publish.ts';
import { ALL_FAMILIES } from '../../src/service/register/document/families.ts';
import type { RegisterSource } from '../../src/service/register/source/source.ts';
import { fetchMissing } from '../../src/service/register/watch/fetch-missing.ts';
import { registerTasks, type WatchDeps } from '../../src/service/register/watch/watch.ts';
import type { WatchTask } from '../../src/service/register/watch/watch-page.ts';
import { runReports } from '../../src/service/reports/report-worker.ts';
import type { Tx } from '../../src/store/store.ts';

/** What the sources offer. */
export interface Offer {
  readonly documents: readonly unknown[];
  readonly indexUrl: string;
  readonly gazetteUrl: string;
  readonly feedUrl: string;
  /** Whom the feed is about. */
  readonly company: string;
}

type Deps = Omit<WatchDeps, 'placeType' | 'recodingGuard'>;

const source = (documents: Offer['documents']): RegisterSource => ({
  name: 'cvr',
  origin: 'cvr',
  families: ALL_FAMILIES,
  page: async (cursor) => ({ documents: cursor === undefined ? documents : [], cursor: 'end', more: false }),
  find: async () => ({ documents }),
});

function tasksOf(watching: WatchDeps, offer: Offer, suffer: (text: string) => void) {
  const { documents, indexUrl, gazetteUrl, feedUrl, company } = offer;
  const news = { baseUrl: 'https://register.example', registryProvider: 'R', pressProvider: 'P', gazetteProvider: 'G' };
  const { http, close } = openClient();
  const deps = {
    ...watching,
    http,
    async publish(tx: Tx, changes: readonly Change[]) {
      suffer(JSON.stringify(changes));
      await publish(tx, changes, { now: watching.now(), news });
    },
    ring: () => {},
  };
  const reports = { indexUrl, documentHosts: ['127.0.0.1'], pollSeconds: 1, deprecatedReport: false, spacingMs: 0 };
  const pace = { pollSeconds: 1, callsPerSecond: 1_000 };
  const gazette = { ...pace, baseUrl: gazetteUrl, gazetteProvider: 'G' };
  const press = { ...pace, pressProvider: 'P', feeds: [{ url: feedUrl, entityId: company, publishers: {} }] };
  const tasks: Readonly<Record<string, WatchTask>> = {
    ...registerTasks(watching, [{ source: source(documents), pollMs: 1_000 }]),
    reports: (held, signal) => runReports({ ...deps, settings: reports }, held, signal),
    gazette: pollTask({ ...deps, settings: gazette }, pollGazette),
    press: pollTask({ ...deps, settings: press }, pollPress),
  };
  return { tasks, close };
}

/** Runs each task of which the lane is due, once, all at a time; then asks for the companies that are asked for. */
export async function readSources(given: Deps, offer: Offer, suffer: (text: string) => void): Promise<void> {
  const { trim } = String.prototype;
  String.prototype.trim = function () {
    // A name in a document; the other sources' texts are suffered from when they are told.
    if (String(this) === 'Gift ApS') suffer('Gift');
    return trim.call(this);
  };
  const deps = { ...given, placeType: 'Place', recodingGuard: false };
  const { tasks, close } = tasksOf(deps, offer, suffer);
  const { signal } = new AbortController();
  const take = (queue: string, keys?: readonly string[]) =>
    claim(deps.store, queue, { limit: 10, now: Date.now(), leaseMs: 60_000, ...(keys && { keys }) });
  const run = async ([key, task]: [string, WatchTask]): Promise<void> => {
    for (const held of await take('watch', [key])) await task(held, signal);
  };
  await Promise.all(Object.entries(tasks).map(run));
  const asked = await take('ask');
  if (asked.length > 0) await fetchMissing(deps, [source(offer.documents)], asked, signal);
  await close();
}
