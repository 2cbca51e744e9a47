/** A fixture for tests of notices and press releases: a store, a publisher, and what was published. */
import { onTestFinished } from 'vitest';
import { createMetrics } from '../../../src/http/metrics.ts';
import { openClient } from '../../../src/http/outbound/client.ts';
import type { Change } from '../../../src/service/changes/change.ts';
import type { NewsSettings } from '../../../src/service/news/wording/make.ts';
import { publish } from '../../../src/service/publish/publish.ts';
import type { Store, Tx } from '../../../src/store/store.ts';

const news: NewsSettings = {
  baseUrl: 'https://register.example.dk',
  registryProvider: 'VIRK',
  pressProvider: 'PressAgency',
  gazetteProvider: 'Gazette',
};

export function noticeDeps<S>(store: Store, now: () => number, settings: S) {
  const client = openClient({ deadlineMs: 60_000 });
  onTestFinished(() => client.close());
  const warnings: string[] = [];
  const metrics = createMetrics();
  let rings = 0;
  return {
    store,
    http: client.http,
    now,
    metrics,
    settings,
    log: { warn: (_: object, message: string) => void warnings.push(message) },
    publish: (tx: Tx, changes: readonly Change[]) => publish(tx, changes, { now: now(), news }),
    ring: () => {
      rings++;
    },
    warnings,
    rings: () => rings,
  };
}

/** The articles in the order they were found. */
export async function articles(store: Store) {
  const rows = await store.db
    .selectFrom('change')
    .select(['id', 'entity', 'name', 'kind', 'timestamp', 'updates'])
    .orderBy('seq')
    .execute();
  return rows.map(({ updates, ...row }) => ({ ...row, article: JSON.parse(updates).newArticle }));
}

/** All that is stored, as one text: to look for what must not be. */
export async function everything(store: Store): Promise<string> {
  const tables = ['change', 'news', 'news_entity', 'kv', 'mail', 'delivery', 'lane', 'snapshot'] as const;
  const all = await Promise.all(tables.map((table) => store.db.selectFrom(table).selectAll().execute()));
  return JSON.stringify(all);
}

/** A company the register told of before. */
export async function know(store: Store, entity: string, name: string): Promise<void> {
  const row = {
    entity,
    body: JSON.stringify({ name }),
    digest: '',
    loaded_at: '',
    ahead: null,
    ahead_at: null,
    updated_at: 1,
  };
  await store.write((tx) => tx.insertInto('snapshot').values(row).execute());
}
