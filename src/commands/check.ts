/** `check`: tests everything that the daemon needs before it runs, and says what is wrong and what to do. */
import { alertFindings } from '../alerts/check.ts';
import type { Config } from '../config/load.ts';
import { configWarnings } from '../config/warnings.ts';
import { type CheckOptions, connectorFindings } from '../connector/check.ts';
import { ownAddress, secretsOf, upstreamOf } from '../halves.ts';
import { createMetrics } from '../http/metrics.ts';
import { openClient } from '../http/outbound/client.ts';
import { isLoopback } from '../http/server/loopback.ts';
import { errorText } from '../protocol/text/error-text.ts';
import type { Finding, Findings } from '../runtime/finding.ts';
import { serviceFindings } from '../service/check.ts';
import type { Secrets } from '../service/keys/secrets.ts';
import { openStore, type Store } from '../store/open.ts';
import { storeExists } from './arguments/with-store.ts';
import { adminFindings } from './check-admin.ts';
import { daemonFindings } from './check-daemons.ts';
import { indexFindings } from './check-index.ts';
import { defineCommand, flag, integer } from './cli/command.ts';

const MIB = 1024 * 1024;

export const command = defineCommand({
  name: 'check',
  audit: { action: 'property.create', where: 'createProperties' },
  about:
    'test configuration, store, upstream key, CRM credentials, mapped properties, register, mail server and monitors, and say what to fix',
  options: {
    timeout: integer('stop all tests after this many seconds (default 60)', 'seconds'),
    createProperties: flag(
      'create the properties that a mapping needs and a CRM lacks; needs the right to change its schema',
    ),
  },
  run: async (context, _args, { timeout = 60, createProperties }) => {
    const { config, file } = await context.loaded();
    const findings: Finding[] = [{ level: 'ok', subject: 'configuration', found: file }, ...warningsOf(config)];
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(timeout * 1_000)]);
    const opened = await tryStore(config.store);
    findings.push(...opened.findings);
    const client = openClient({ env: context.env });
    try {
      if (opened.store === undefined)
        findings.push({
          level: 'warn',
          subject: 'all else',
          found: 'not checked',
          advice: 'fix the store first',
        });
      else {
        const deps = { store: opened.store, http: client.http, metrics: createMetrics(), now: Date.now };
        findings.push(...(await halfFindings(deps, config, signal, { createProperties })));
        findings.push(...(await daemonFindings(opened.store, config)));
        const wantsMatches = config.connector?.providers.some(({ autoMatch }) => autoMatch !== undefined) ?? false;
        findings.push(...(await indexFindings(opened.store.db, wantsMatches)));
        findings.push(...(await adminFindings(config, client.http, signal)));
        findings.push(...(await alertFindings(config.alerts, signal)));
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

const warningsOf = (config: Config): Findings =>
  configWarnings(config, isLoopback).map(({ isKnown, ...rest }) => ({ level: isKnown ? 'info' : 'warn', ...rest }));

type Deps = Parameters<typeof connectorFindings>[0];

/** What each configured half finds. */
async function halfFindings(deps: Deps, config: Config, signal: AbortSignal, options: CheckOptions): Promise<Findings> {
  const { connector, service, server } = config;
  const opened = await tryKey(config);
  if (opened.finding !== undefined) return [opened.finding];
  const { secrets } = opened;
  const isOwn = service !== undefined && connector?.upstream === undefined;
  const upstream = await upstreamOf(config, secrets, ownAddress(server.host, server.port));
  const [ofConnector, ofService] = await Promise.all([
    connector === undefined
      ? NO_CONNECTOR
      : connectorFindings(deps, withUpstream({ ...connector, server }, upstream), signal, options),
    service === undefined || secrets === undefined
      ? []
      : serviceFindings({ ...deps, secrets }, { server, service }, signal),
  ]);
  return [...(isOwn ? ofConnector.map(ofOwnService) : ofConnector), ...ofService];
}

const NO_CONNECTOR: Findings = [
  { level: 'info', subject: 'connector', found: 'not configured: no CRM is kept in step' },
];

const withUpstream = <C extends { readonly upstream?: unknown }, U>(
  { upstream: _, ...rest }: C,
  upstream: U | undefined,
) => ({
  ...rest,
  ...(upstream !== undefined && { upstream }),
});

/** Our own service runs inside the daemon: that it does not answer while the daemon is stopped is not a configuration error. */
const ofOwnService = (finding: Finding): Finding =>
  finding.subject === 'upstream' && finding.level === 'fail'
    ? {
        level: 'info',
        subject: 'upstream',
        found: `our own service does not answer: ${finding.found}`,
        advice: 'start it with cvrsync serve, then check again',
      }
    : finding;

/** Makes the key file where it must, as `serve` would. */
async function tryKey(config: Config): Promise<{ readonly secrets?: Secrets | undefined; readonly finding?: Finding }> {
  try {
    return { secrets: await secretsOf(config) };
  } catch (error) {
    const found = errorText(error);
    return { finding: { level: 'fail', subject: 'key', found } };
  }
}

interface OpenedStore {
  readonly store: Store | undefined;
  readonly findings: Findings;
}

/** A file that is not there yet is made, as `serve` would; what is there is not migrated, a daemon may be using it. */
async function tryStore(url: string): Promise<OpenedStore> {
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
    const found = errorText(error);
    return {
      store: undefined,
      findings: [{ level: 'fail', subject: 'store', found, advice: 'see the setting `store`' }],
    };
  }
}

async function tryWriting(store: Store, isNew: boolean): Promise<Findings> {
  await store.write(async (tx) => {
    await tx
      .insertInto('kv')
      .values({ key: '@check', value: '', updated_at: Date.now() })
      .onConflict((at) => at.doNothing())
      .execute();
    await tx.deleteFrom('kv').where('key', '=', '@check').execute();
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
