/** Third-party jobs: monitors that belong to an API key and a provider, and list that provider's companies. */
import type { Tx } from '../../store/store.ts';
import { getKey } from '../keys/keys.ts';
import type { Secrets } from '../keys/secrets.ts';
import type { Monitor } from './monitor.ts';
import { MonitorError, type MonitorInput, type MonitorOptions } from './monitor-input.ts';
import { createMonitor, disable, listJobs, lockMonitor, removeMonitor } from './monitors.ts';

/** A job as it is asked for; the rest as a monitor's. */
export interface JobInput extends Omit<MonitorInput, 'name' | 'owner' | 'provider' | 'target'> {
  /** The {Provider} of the paths. */
  readonly provider: string;
  /** Id of the API key that it belongs to. */
  readonly key: string;
  /** What it is called (the provider's name). */
  readonly name?: string;
}

/**
 * Makes a job. Throws MonitorError where it cannot be as asked, where the key may not call the monitoring endpoints, or has
 * a job for the provider already, in whatever case.
 */
export async function createJob(
  tx: Tx,
  secrets: Secrets,
  { key, provider, name = provider, ...rest }: JobInput,
  now: number,
  options: MonitorOptions = {},
): Promise<Monitor> {
  await needKey(tx, key);
  await needFree(tx, key, provider);
  return createMonitor(tx, secrets, { ...rest, name, provider, owner: key, target: 'items' }, now, options);
}

/** Hands a job to another key, as when one replaces another. Undefined where there is no such job; throws as create does. */
export async function moveJob(tx: Tx, id: string, key: string, now: number): Promise<'moved' | undefined> {
  const { provider = null, owner } = (await lockMonitor(tx, id)) ?? {};
  if (provider === null) return undefined;
  if (owner === key) return 'moved';
  await needKey(tx, key);
  await needFree(tx, key, provider);
  await tx.updateTable('monitor').set({ owner: key, updated_at: now }).where('id', '=', id).execute();
  return 'moved';
}

/** Removes a job with its items, as a monitor is removed. False where there is no such job. */
export async function removeJob(tx: Tx, id: string, now: number): Promise<boolean> {
  const { provider = null } = (await lockMonitor(tx, id)) ?? {};
  return provider === null ? false : removeMonitor(tx, id, now);
}

async function needKey(tx: Tx, id: string): Promise<void> {
  const key = await getKey(tx, id);
  const wrong =
    key === undefined
      ? 'is no API key: cvrsync keys list shows their ids'
      : key.revokedAt !== null
        ? 'was revoked'
        : key.scopes.includes('monitoring')
          ? undefined
          : 'has not the scope monitoring';
  if (wrong !== undefined) throw new MonitorError([{ path: '/key', message: wrong }]);
}

async function needFree(tx: Tx, key: string, provider: string): Promise<void> {
  const jobs = await listJobs(tx, key);
  const taken = jobs.find((job) => job.provider.toLowerCase() === provider.toLowerCase());
  if (taken === undefined) return;
  throw new MonitorError([{ path: '/provider', message: `has a job of this key already: ${taken.id}` }]);
}

/** A job that a revoked key leaves behind. */
export interface LeftJob {
  readonly id: string;
  readonly name: string;
}

/** The jobs of a key that are on. */
export const activeJobs = (tx: Tx, key: string): Promise<readonly LeftJob[]> =>
  tx
    .selectFrom('monitor')
    .select(['id', 'name'])
    .where('owner', '=', key)
    .where('enabled', '=', 1)
    .orderBy('id')
    .execute();

/** Switches the jobs of a key off, and returns those that were on: what is due to them is held. */
export async function switchOffJobs(tx: Tx, key: string, now: number): Promise<readonly LeftJob[]> {
  const jobs = await activeJobs(tx, key);
  for (const { id } of jobs) await disable(tx, id, 'person', now);
  return jobs;
}
