/**
 * mapping: how long the daemon's loop stands still while the page of the mapping counts what 1,000,000 values of 91,000 records
 * would become, against the same loop at rest. `turnCpuMs`: the most that the thread computed between two turns of the loop,
 * which a busy machine hardly changes. `CVRSYNC_BENCH_RECORDS=5000` counts fewer.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { checkConfig } from '../../src/config/load.ts';
import { openCrm } from '../../src/connector/crm/crm.ts';
import { extract } from '../../src/connector/facts/extract.ts';
import { fold } from '../../src/connector/facts/fact.ts';
import { countEffect, type MappingEffect } from '../../src/connector/proposals/effect.ts';
import { rulesOf } from '../../src/connector/rules/rules.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { openClient } from '../../src/http/outbound/client.ts';
import { fullStatePayload, sampleCompany } from '../../src/protocol/sample/company.ts';
import { inventedCompany } from '../../src/setup/mapping-draft.ts';
import { openStore } from '../../src/store/engines/open.ts';
import { runInBulk } from './bulk.ts';
import { inFolder } from './daemon.ts';
import { FIRST, numbersTo } from './fill.ts';
import { report, round } from './measure.ts';

const RECORDS = Number(process.env['CVRSYNC_BENCH_RECORDS'] ?? 91_000);
const AIM_MS = 250;
const REST_MS = 5_000;
const COMPANY = `CVR-1-${FIRST}`;
const NOOP = fileURLToPath(new URL('noop-provider.ts', import.meta.url));

/** Linked records whose companies all have the facts of one sample. */
function inserts(): readonly string[] {
  const numbers = numbersTo(RECORDS);
  const payload = fullStatePayload(sampleCompany(1), '2026-01-01T00:00:00.000Z');
  const facts = extract({ ...payload, entityId: COMPANY }).map((said) => fold(undefined, COMPANY, said, 1).fact);
  const text = (value: unknown): string => `'${JSON.stringify(value).replaceAll("'", "''")}'`;
  return [
    `insert into link (provider, record_id, entity, state, desired, observed, created_at, updated_at)
      ${numbers} select 'noop', cast(1000000 + n as text), 'CVR-1-' || (${FIRST} + n), 'active', 'on', 'on', 1, 1 from number`,
    ...facts.map(
      ({ field, value }) => `insert or ignore into fact (entity, field, value, clock, seq)
      ${numbers} select 'CVR-1-' || (${FIRST} + n), '${field}', ${text(value)}, '2026-01-01T00:00:00.000Z', 1 from number`,
    ),
  ];
}

/** How long the loop stood still during some work, and what the thread computed in its longest turn; in ms. */
async function watched<T>(work: () => Promise<T>) {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  let turnCpuMs = 0;
  let before = cpuMs();
  let isOver = false;
  const turn = (): void => {
    const now = cpuMs();
    turnCpuMs = Math.max(turnCpuMs, now - before);
    before = now;
    if (!isOver) setTimeout(turn, 1);
  };
  delay.enable();
  turn();
  const value = await work();
  isOver = true;
  delay.disable();
  return {
    value,
    mostMs: round(delay.max / 1e6),
    p99Ms: round(delay.percentile(99) / 1e6),
    turnCpuMs: round(turnCpuMs),
  };
}

/** What this thread has computed; the scheduler counts in nanoseconds. */
const cpuMs = (): number => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;

await inFolder(async (folder) => {
  const file = join(folder, 'cvrsync.db');
  await (await openStore(file)).close();
  await runInBulk(file, ['link', 'fact'], inserts());
  const content = {
    store: file,
    connector: {
      webhook: { auth: { method: 'None' } },
      providers: { noop: { use: NOOP, file: join(folder, 'calls') } },
    },
  };
  const loaded = await checkConfig(content, join(folder, 'cvrsync.yaml'), {});
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
  const [provider] = loaded.config.connector?.providers ?? [];
  if (provider === undefined) throw new Error('the configuration has no connection');
  const store = await openStore(file);
  const client = openClient();
  const deps = { store, now: Date.now };
  const crm = await openCrm({ ...deps, http: client.http, metrics: createMetrics() }, provider);
  const request = { crm, rules: rulesOf(provider), invented: inventedCompany(Date.now()), sample: RECORDS };

  const rest = await watched(() => sleep(REST_MS));
  const began = performance.now();
  const count = await watched(async () => {
    let sum: MappingEffect | undefined;
    for await (const effect of countEffect(deps, request, AbortSignal.timeout(600_000))) sum = effect;
    return sum;
  });
  const tookS = round((performance.now() - began) / 1_000);
  await client.close();
  await store.close();
  const { value: effect, ...counting } = count;
  const { value: _, ...resting } = rest;
  const measured = { ...counting, atRest: resting, values: effect?.filled, records: effect?.read, tookS };
  report('mapping', measured, { mostMs: AIM_MS }, counting.mostMs < AIM_MS || counting.turnCpuMs < AIM_MS);
});
