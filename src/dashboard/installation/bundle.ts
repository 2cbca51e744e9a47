/** The support bundle: facts for somebody who helps, without secrets and personal data. */
import { countByKind } from '../../connector/review/review-list.ts';
import type { Metrics } from '../../http/metrics.ts';
import type { Server } from '../../http/server/server.ts';
import { MOST_COUNTED, MOST_LOOKED_AT, readSources } from '../../operations/installation/status/read-status.ts';
import { maskedJson } from '../../protocol/text/mask.ts';
import { listVersions } from '../../runtime/config-versions.ts';
import { readDaemons } from '../../runtime/daemons.ts';
import { counts } from '../../runtime/lanes/count-lanes.ts';
import { readGrowth } from '../../runtime/store-size.ts';
import { addPage, type RouteDeps } from '../routes/routes.ts';
import type { Installation } from './installation.ts';

export interface BundleDeps extends RouteDeps {
  readonly installation: Installation;
  readonly metrics: Pick<Metrics, 'registry'>;
}

const VERSIONS = 20;

export function addBundle(app: Server, deps: BundleDeps): void {
  addPage(app, deps, {
    path: '/installation/bundle.json',
    role: 'operator',
    async show({ now }) {
      const content = withoutPersons(maskedJson(await readBundle(deps, now), deps.installation.mask, 2));
      return { file: 'cvrsync-support.json', type: 'application/json; charset=utf-8', content };
    },
  });
}

/** Counts and states; no content of a record, company or delivery. */
async function readBundle({ store, installation, metrics, halves }: BundleDeps, now: number): Promise<object> {
  const { db, engine } = store;
  const bytes = await store.sizeBytes();
  return {
    madeAt: new Date(now).toISOString(),
    version: installation.version,
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    startedAt: new Date(installation.startedAt).toISOString(),
    halves,
    store: { engine, bytes, growth: await readGrowth(db, bytes, now), freeBytes: await store.freeBytes() },
    memory: process.memoryUsage(),
    daemons: (await readDaemons(db, now)).map(({ startedAt }) => new Date(startedAt).toISOString()),
    configVersions: (await listVersions(db, { limit: VERSIONS })).map(({ acceptedBy: _, ...version }) => version),
    findings: await installation.quickFindings(),
    review: await countByKind(db, now, { most: MOST_COUNTED, lookedAt: MOST_LOOKED_AT }),
    queues: await counts(db, now),
    sources: await readSources(db),
    config: installation.shownConfig(),
    metrics: await metrics.registry.getMetricsAsJSON(),
  };
}

/** A mail address names a person, and the user in another address may. */
const withoutPersons = (text: string): string =>
  text
    .replaceAll(/:\/\/[^\s"'@/]*@/gu, '://***@')
    .replaceAll(/[^\s"'<>:/,;]+/gu, (word) => (/[^@]@[^@]/u.test(word) && !word.startsWith('***@') ? '***' : word));
