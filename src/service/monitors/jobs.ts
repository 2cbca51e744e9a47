/** Third-party jobs: monitors of an API key and a provider, for that provider's companies. */
import type { Db, Tx } from '../../store/store.ts';
import { getKey, revokeKey } from '../keys/keys.ts';
import type { Monitor } from './monitor.ts';
import { type MonitorContext, MonitorError, type MonitorInput } from './monitor-input.ts';
import { createMonitor, disable, listJobs, lockMonitor, removeMonitor } from './monitors.ts';

export interface JobInput extends Omit<MonitorInput, 'name' | 'owner' | 'provider' | 'target'> {
  /** The {Provider} in the paths. */
  readonly provider: string;
  /** The id of the API key that owns the job. */
  readonly key: string;
  /** The provider's name by default. */
  readonly name?: string;
}

/**
 * Creates a job. Throws MonitorError if the input is invalid, if the key may not call the monitoring endpoints, or if
 * the key already has a job for the provider (case does not matter).
 */
export async function createJob(
  tx: Tx,
  { key, provider, name = provider, ...rest }: JobInput,
  context: MonitorContext,
): Promise<Monitor> {
  await requireKey(tx, key);
  await requireNoJob(tx, key, provider);
  return createMonitor(tx, { ...rest, name, provider, owner: key, target: 'items' }, context);
}

/** Moves a job to another key. Undefined if the job does not exist; throws as {@link createJob} does. */
export async function moveJob(tx: Tx, id: string, key: string, now: number): Promise<'moved' | undefined> {
  const { provider = null, owner } = (await lockMonitor(tx, id)) ?? {};
  if (provider === null) return undefined;
  if (owner === key) return 'moved';
  await requireKey(tx, key);
  await requireNoJob(tx, key, provider);
  await tx.updateTable('monitor').set({ owner: key, updated_at: now }).where('id', '=', id).execute();
  return 'moved';
}

/** Removes a job with its items, as {@link removeMonitor} does. False if it does not exist. */
export async function removeJob(tx: Tx, id: string, now: number): Promise<boolean> {
  const { provider = null } = (await lockMonitor(tx, id)) ?? {};
  return provider === null ? false : removeMonitor(tx, id, now);
}

async function requireKey(tx: Tx, id: string): Promise<void> {
  const key = await getKey(tx, id);
  const problem =
    key === undefined
      ? 'is no API key: cvrsync keys list shows their ids'
      : key.revokedAt !== null
        ? 'was revoked'
        : key.scopes.includes('monitoring')
          ? undefined
          : 'does not have the scope monitoring';
  if (problem !== undefined) throw new MonitorError([{ path: '/key', message: problem }]);
}

async function requireNoJob(tx: Tx, key: string, provider: string): Promise<void> {
  const jobs = await listJobs(tx, key);
  const taken = jobs.find((job) => job.provider.toLowerCase() === provider.toLowerCase());
  if (taken === undefined) return;
  throw new MonitorError([{ path: '/provider', message: `has a job of this key already: ${taken.id}` }]);
}

export interface EnabledJob {
  readonly id: string;
  readonly name: string;
}

export const enabledJobs = (db: Db, key: string): Promise<readonly EnabledJob[]> =>
  db
    .selectFrom('monitor')
    .select(['id', 'name'])
    .where('owner', '=', key)
    .where('enabled', '=', 1)
    .orderBy('id')
    .execute();

/**
 * Revokes a key for good and disables its jobs, which holds their deliveries; with `keepJobs` they stay enabled.
 * Returns the jobs that were enabled; undefined if the key does not exist.
 */
export async function revokeKeyAndJobs(
  tx: Tx,
  key: string,
  { keepJobs, now }: { readonly keepJobs: boolean; readonly now: number },
): Promise<readonly EnabledJob[] | undefined> {
  if (!(await revokeKey(tx, key, now))) return undefined;
  const jobs = await enabledJobs(tx, key);
  if (!keepJobs) for (const { id } of jobs) await disable(tx, id, 'person', now);
  return jobs;
}
