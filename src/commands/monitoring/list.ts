/** `monitoring list`: compares what the service monitors with the links here. */
import { type Link, listLinks } from '../../connector/links/links.ts';
import type { Upstream } from '../../connector/monitoring/upstream.ts';
import type { Store } from '../../store/store.ts';
import { needProvider, needUpstream, withMonitoring } from '../arguments/with-monitoring.ts';
import { defineCommand, optional } from '../cli/command.ts';
import type { TableRow } from '../cli/table.ts';

const PAGE = 1_000;

export const list = defineCommand({
  name: 'list',
  examples: ['monitoring list hubspot'],
  about: 'list what the service monitors, job by job, next to what is linked here',
  args: { provider: optional('list this CRM only') },
  run: (context, { provider }) =>
    withMonitoring(context, async (opened) => {
      const upstream = needUpstream(opened);
      if (provider !== undefined) needProvider(opened.connector, provider);
      const providers = provider === undefined ? opened.connector.providers.map(({ name }) => name) : [provider];
      const rows = await compare(
        { upstream, store: opened.store, signal: context.signal },
        providers,
        provider !== undefined,
      );
      context.output.table(rows, 'Nothing is monitored, and nothing is linked.');
      return 0;
    }),
});

/** A row for each item, then one for each link that the service lacks. `only` omits other jobs. */
async function compare(
  { upstream, store, signal }: { readonly upstream: Upstream; readonly store: Store; readonly signal: AbortSignal },
  providers: readonly string[],
  only: boolean,
): Promise<readonly TableRow[]> {
  const missing = await linksByKey(store, providers);
  const linked = new Set(missing.keys());
  const rows: TableRow[] = [];
  for (const { id: jobId, name } of await upstream.jobs(signal)) {
    const job = name ?? jobId;
    // A job has the name of its provider; any other job may belong to anyone.
    const owner = providers.find((one) => one.toLowerCase() === job.toLowerCase());
    if (only && owner === undefined) continue;
    for await (const { entityId, id, provider } of upstream.items(jobId, signal)) {
      const key = keyOf(owner ?? provider ?? '', entityId, id);
      missing.delete(key);
      const state = linked.has(key) ? 'linked' : 'not linked here';
      rows.push({ job, provider: owner ?? provider ?? null, entity: entityId, record: id, state });
    }
  }
  for (const { provider, entity, record_id: record } of missing.values())
    rows.push({ job: null, provider, entity, record, state: 'linked here but not upstream' });
  return rows;
}

async function linksByKey(store: Store, providers: readonly string[]): Promise<Map<string, Link>> {
  const links = new Map<string, Link>();
  for (const provider of providers)
    for await (const link of activeLinks(store, provider))
      links.set(keyOf(provider, link.entity, link.record_id), link);
  return links;
}

const keyOf = (provider: string, entity: string, recordId: string): string => `${provider} ${entity} ${recordId}`;

async function* activeLinks(store: Store, provider: string): AsyncGenerator<Link, void, undefined> {
  let page: readonly Link[] = [];
  do {
    const last = page.at(-1);
    const after = last === undefined ? undefined : { provider, recordId: last.record_id };
    page = await listLinks(store.db, { provider, state: 'active', limit: PAGE, after });
    yield* page;
  } while (page.length === PAGE);
}
