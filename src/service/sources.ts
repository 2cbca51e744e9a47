/** The sources of changes: the register and the enabled news sources. Each is a task of the queue `watch`. */

import type { Metrics } from '../http/metrics.ts';
import type { OutboundHttp } from '../http/outbound/client.ts';
import type { WakeUp } from '../runtime/wake-up.ts';
import type { Store, Tx } from '../store/store.ts';
import type { Change } from './changes/change.ts';
import { GAZETTE_KEY, pollGazette } from './feeds/gazette.ts';
import { pollTask } from './feeds/poll.ts';
import { PRESS_KEY, pollPress } from './feeds/press.ts';
import { zonedMail } from './mail/digest-hour.ts';
import { MAIL_QUEUE } from './mail/queue.ts';
import { DELIVER_QUEUE } from './names/queues.ts';
import { publish } from './publish/publish.ts';
import { createCvrSource } from './register/source/cvr.ts';
import { createDatafordelerSource } from './register/source/datafordeler/feed/datafordeler.ts';
import { wantedCompanies } from './register/source/datafordeler/feed/wanted.ts';
import { createFilesSource } from './register/source/datafordeler/files/files-source.ts';
import { createFileSource } from './register/source/file.ts';
import { withPageAhead } from './register/source/page-ahead.ts';
import type { RegisterSource } from './register/source/source.ts';
import { type PolledSource, registerTasks, type WatchDeps, type WatchTasks } from './register/watch/watch.ts';
import { REPORTS_KEY, runReports } from './reports/report-worker.ts';
import type { RegisterSettings, ServiceSettings } from './service-settings.ts';

export interface SourceDeps {
  readonly store: Store;
  readonly wakeUp: WakeUp;
  readonly now: () => number;
  readonly metrics: Metrics;
  readonly log: WatchDeps['log'];
  readonly http: OutboundHttp;
}

export function openSource(
  register: RegisterSettings,
  { store, http, now }: Omit<SourceDeps, 'wakeUp' | 'metrics' | 'log'>,
): RegisterSource {
  switch (register.source) {
    case 'file':
      return createFileSource(register.path, { now });
    case 'cvr':
      return createCvrSource({ ...register, pollMs: register.pollSeconds * 1_000, http, store, now });
    case 'datafordeler': {
      const wanted = (entities: readonly string[]) => wantedCompanies(store.db, entities);
      const feed = createDatafordelerSource({ ...register, wanted, http, store, now });
      const { files } = register;
      return files === undefined ? feed : createFilesSource(feed, { ...register, files, http, store, now });
    }
  }
}

/** The sources of the register, the leading one first. */
export const registersOf = ({ register }: Pick<ServiceSettings, 'register'>): readonly RegisterSettings[] =>
  isList(register) ? register : [register];

const isList = (register: ServiceSettings['register']): register is readonly RegisterSettings[] =>
  Array.isArray(register);

/** The folder or address of a register. */
export function registerPlace(register: RegisterSettings): string {
  switch (register.source) {
    case 'file':
      return register.path;
    case 'cvr':
      return register.baseUrl;
    case 'datafordeler':
      return register.graphqlUrl;
  }
}

export interface OpenRegister {
  /** The leading one first. */
  readonly sources: readonly RegisterSource[];
  readonly polled: readonly PolledSource[];
  readonly from: string;
}

export function openRegister(
  settings: Pick<ServiceSettings, 'register'>,
  deps: Parameters<typeof openSource>[1],
): OpenRegister {
  const registers = registersOf(settings);
  const polled = registers.map((register) => {
    const source = openSource(register, deps);
    // Reads ahead only from the register, which is slow. Files are not, and Datafordeler has a page a minute.
    const pages = register.source === 'cvr' ? withPageAhead(source) : source;
    return { source: pages, pollMs: register.pollSeconds * 1_000 };
  });
  return {
    sources: polled.map(({ source }) => source),
    polled,
    from: registers.map(registerPlace).join(', '),
  };
}

const publishing = (settings: ServiceSettings) => ({ news: settings.news, digest: zonedMail(settings) });

export const watchDeps = (
  deps: SourceDeps,
  settings: ServiceSettings,
  sources: readonly RegisterSource[],
): WatchDeps => ({
  ...deps,
  origins: [...new Set(sources.map(({ origin }) => origin))],
  placeType: settings.placeType,
  recodingGuard: settings.recodingGuard,
  beneficialOwners: settings.beneficialOwners === true,
  publish: publishing(settings),
});

export function watchTasks(deps: SourceDeps, register: OpenRegister, settings: ServiceSettings): WatchTasks {
  const { now, wakeUp } = deps;
  const { news, reports, gazette, press } = settings;
  const how = publishing(settings);
  const publishes = {
    publish: (tx: Tx, changes: readonly Change[]) => publish(tx, changes, { ...how, now: now() }),
    ring: () => {
      wakeUp.ring(DELIVER_QUEUE);
      wakeUp.ring(MAIL_QUEUE);
    },
  };
  const notices = { ...deps, ...publishes };
  return {
    ...registerTasks(watchDeps(deps, settings, register.sources), register.polled),
    ...(reports.enabled && {
      [REPORTS_KEY]: (claim, signal) => runReports({ ...notices, settings: reports }, claim, signal),
    }),
    ...(gazette.enabled && {
      [GAZETTE_KEY]: pollTask({ ...notices, settings: { ...news, ...gazette } }, pollGazette),
    }),
    ...(press.feeds.length > 0 && {
      [PRESS_KEY]: pollTask({ ...notices, settings: { ...news, ...press } }, pollPress),
    }),
  };
}
