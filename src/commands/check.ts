/** `check`: everything the daemon will need, tried before it runs; what is wrong and what to do. */
import { connectorFindings, type Findings } from '../connector/check.ts';
import type { Finding } from '../connector/check-mapping.ts';
import { ownAddress, secretsOf, upstreamOf } from '../halves.ts';
import { openClient } from '../http/client.ts';
import { createMetrics } from '../http/metrics.ts';
import { openStore, type Store } from '../store/open.ts';
import { defineCommand, integer } from './command.ts';
import { storeExists } from './opened.ts';

const MIB = 1024 * 1024;

export const command = defineCommand({
  name: 'check',
  about: 'configuration, store, upstream key, CRM credentials, every mapped property, reachability; says what to fix',
  options: { timeout: integer('seconds for all of it (default 60)', 'seconds') },
  run: async (context, _args, { timeout = 60 }) => {
    const { config, file } = await context.loaded();
    const findings: Finding[] = [{ level: 'ok', subject: 'configuration', found: file }];
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(timeout * 1_000)]);
    const opened = await tryStore(config.store);
    findings.push(...opened.findings);
    const client = openClient({ env: context.env });
    try {
      if (config.connector === undefined) {
        findings.push({
          level: 'warn',
          subject: 'connector',
          found: 'not configured: no CRM is kept in step',
          advice: 'add a connector section',
        });
      } else if (opened.store === undefined) {
        const found = 'not checked: their calls are paced by the store, and it does not open';
        findings.push({ level: 'warn', subject: 'upstream, CRMs', found, advice: 'put the store right first' });
      } else {
        const deps = { store: opened.store, http: client.http, metrics: createMetrics(), now: Date.now };
        const own = ownAddress(config.server.host, config.server.port);
        const upstream = upstreamOf(config, await secretsOf(config), own);
        const { upstream: _, ...connector } = config.connector;
        const toCheck = { ...connector, ...(upstream !== undefined && { upstream }), server: config.server };
        findings.push(...(await connectorFindings(deps, toCheck, signal)));
      }
    } finally {
      await client.close();
      await opened.store?.close();
    }
    context.output.table(
      findings.map(({ level, subject, found, advice }) => ({
        level,
        subject,
        found,
        ...(advice !== undefined && { advice }),
      })),
    );
    const count = (level: Finding['level']) => findings.filter((each) => each.level === level).length;
    context.output.line(`\n${count('fail')} to fix, ${count('warn')} to look at.`);
    return count('fail') > 0 ? 1 : 0;
  },
});

interface TriedStore {
  readonly store: Store | undefined;
  readonly findings: Findings;
}

/** A file that is not there yet is made, as `serve` would; what is there is not migrated, a daemon may be using it. */
async function tryStore(url: string): Promise<TriedStore> {
  const isNew = !storeExists(url);
  try {
    const store = await openStore(url, { migrate: isNew });
    try {
      return { store, findings: await tryWriting(store, isNew) };
    } catch (error) {
      await store.close();
      throw error;
    }
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    return {
      store: undefined,
      findings: [{ level: 'fail', subject: 'store', found, advice: 'see the setting `store`' }],
    };
  }
}

async function tryWriting(store: Store, isNew: boolean): Promise<Findings> {
  await store.write(async (tx) => {
    await tx
      .insertInto('keep')
      .values({ key: '@check', value: '', updated_at: Date.now() })
      .onConflict((at) => at.doNothing())
      .execute();
    await tx.deleteFrom('keep').where('key', '=', '@check').execute();
  });
  const free = await store.freeBytes();
  const found = `${store.engine}, ${isNew ? 'made, ' : ''}schema current, writable`;
  const findings: Finding[] = [{ level: 'ok', subject: 'store', found }];
  if (free !== undefined && free < 512 * MIB)
    findings.push({
      level: 'warn',
      subject: 'store',
      found: `${Math.floor(free / MIB)} MiB free on its disk`,
      advice: 'make room: webhooks are refused when it is full',
    });
  return findings;
}
