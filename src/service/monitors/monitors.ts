/**
 * Creates, changes, enables, disables and removes monitors. Transactions lock a monitor's row, then its delivery
 * lane, then its deliveries, as publish.ts and items.ts do.
 */

import { randomBytes, randomUUID } from 'node:crypto';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { mark } from '../../runtime/lanes/lanes.ts';
import { each } from '../../store/each.ts';
import { readErasures } from '../../store/erasure/erasures.ts';
import { type Db, engineOf, type Tx } from '../../store/store.ts';
import type { Secrets } from '../keys/secrets.ts';
import { readAddress, sameAddress } from '../mail/address.ts';
import { DELIVER_QUEUE } from '../names/queues.ts';
import type { Monitor, Security } from './monitor.ts';
import {
  checkMonitor,
  type MonitorContext,
  MonitorError,
  type MonitorInput,
  type MonitorPatch,
  readEventNames,
} from './monitor-input.ts';
import { type MonitorRow, readMonitor, writeSecurity } from './monitor-row.ts';
import { maskedAddress, sealAddress } from './webhook-address.ts';

/** How long posts are also signed with the previous secret. */
const ROTATION_MS = 24 * 3_600_000;

/**
 * Creates a monitor with a signing secret of its own. Throws {@link MonitorError} if the settings are invalid, or if
 * the owner already has a job for the provider.
 */
export async function createMonitor(
  tx: Tx,
  input: MonitorInput,
  { secrets, now, options = {}, id = randomUUID() }: MonitorContext,
): Promise<Monitor> {
  throwIfInvalid(checkMonitor(input, options));
  const { owner = null, provider = null, enabled = true } = input;
  if (provider !== null && (await findJob(tx, owner, provider)) !== undefined) throw providerTaken(provider);
  const security: Security = {
    credentials: input.credentials ?? { method: 'None' },
    secrets: [{ secret: newSecret(), expiresAt: null }],
  };
  const { redact } = await readErasures(tx);
  const row = await tx
    .insertInto('monitor')
    .values({
      id,
      name: redact(input.name.trim()),
      owner,
      provider,
      target: input.target ?? 'items',
      events: input.events ? JSON.stringify(readEventNames(input.events, options)) : null,
      url: sealAddress(input.url ?? null, secrets),
      security: writeSecurity(security, secrets),
      schedule: input.schedule ? JSON.stringify(input.schedule) : null,
      posts_per_minute: input.postsPerMinute ?? null,
      emails: JSON.stringify(distinct(input.emails ?? [])),
      mail_frequency: input.mailFrequency ?? 'daily',
      ...(enabled ? enabledAt(now) : inactiveAt(now)),
      ...HEALTHY,
      created_at: now,
      updated_at: now,
    })
    // Another caller may have created the job since findJob.
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) throw providerTaken(provider ?? '');
  return readMonitor(row, secrets);
}

const enabledAt = (now: number) => ({ enabled: 1, enabled_at: now, disabled_reason: null, disabled_at: null });
const inactiveAt = (now: number) =>
  ({ enabled: 0, enabled_at: null, disabled_reason: 'person', disabled_at: now }) as const;

const maskedOf = (url: string | null): string | undefined => (url === null ? undefined : maskedAddress(url));

/**
 * Changes the properties in the patch. Undefined if the monitor does not exist; throws as {@link createMonitor} does.
 */
export async function updateMonitor(
  tx: Tx,
  id: string,
  patch: MonitorPatch,
  { secrets, now, options = {} }: MonitorContext,
): Promise<Monitor | undefined> {
  const row = await lockMonitor(tx, id);
  if (row === undefined) return undefined;
  throwIfInvalid(checkMonitor({ ...patch, provider: row.provider }, options));
  const { security, url: known } = readMonitor(row, secrets);
  const { name, target, events, url, credentials, schedule, postsPerMinute, mailFrequency } = patch;
  const emails = patch.emails && distinct(patch.emails);
  const to: Partial<MonitorRow> = {
    ...(name !== undefined && { name: (await readErasures(tx)).redact(name.trim()) }),
    ...(target !== undefined && { target }),
    ...(events !== undefined && { events: events && JSON.stringify(readEventNames(events, options)) }),
    ...(credentials !== undefined && { security: writeSecurity({ ...security, credentials }, secrets) }),
    ...(schedule !== undefined && { schedule: schedule && JSON.stringify(schedule) }),
    // A wait under the previous limit no longer counts.
    ...(postsPerMinute !== undefined && { posts_per_minute: postsPerMinute, next_post_at: null }),
    ...(emails !== undefined && { emails: JSON.stringify(emails) }),
    ...(mailFrequency !== undefined && { mail_frequency: mailFrequency }),
    // The failures of the previous webhook do not count for a new one. A masked address that the caller read here
    // stands for the stored one.
    ...(url !== undefined &&
      url !== known &&
      url !== maskedOf(known) && { url: sealAddress(url, secrets), ...HEALTHY }),
  };
  await updateRow(tx, id, to, now);
  if (to.url === null) await holdDue(tx, id, now);
  if (emails !== undefined) {
    await cancelMail(tx, id, emails, now);
    await forgetRefused(tx, id, emails);
  }
  return readMonitor({ ...row, ...to }, secrets);
}

/**
 * Removes a monitor with its items and pending mails, and drops its pending deliveries. Ended deliveries stay. False
 * if the monitor does not exist.
 */
export async function removeMonitor(tx: Tx, id: string, now: number): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('monitor').where('id', '=', id).executeTakeFirst();
  if (numDeletedRows === 0n) return false;
  await mark(tx, DELIVER_QUEUE, [id], now);
  await tx
    .updateTable('delivery')
    .set({ state: 'dropped', ended_at: now, error: 'the monitor was removed' })
    .where('monitor', '=', id)
    .where('state', 'in', ['due', 'held'])
    .execute();
  await tx.deleteFrom('item').where('monitor', '=', id).execute();
  await tx
    .deleteFrom('mail')
    .where('monitor', '=', id)
    .where('sent_at', 'is', null)
    .where('failed_at', 'is', null)
    .execute();
  await tx.deleteFrom('unsubscribed').where('monitor', '=', id).execute();
  return true;
}

/** Selects monitors that match every given value. */
export interface MonitorFilter {
  /** The id of an API key; null for the monitors of operators. */
  readonly owner?: string | null | undefined;
  readonly provider?: string | undefined;
  /** True: only third-party jobs. False: only other monitors. */
  readonly job?: boolean | undefined;
  readonly enabled?: boolean | undefined;
  /** Part of the name, in any case. */
  readonly name?: string | undefined;
  /** Only monitors after this id. */
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

/** Whether a name contains a text in any case; on SQLite case matters for letters other than A to Z. */
function nameContains(text: string): RawBuilder<SqlBool> {
  const plain = text.replaceAll(/[\\%_]/g, String.raw`\$&`);
  return sql`lower(name) like lower(${`%${plain}%`}) escape ${'\\'}`;
}

/** Lists monitors in the order of their ids. */
export async function listMonitors(db: Db, secrets: Secrets, filter: MonitorFilter = {}): Promise<readonly Monitor[]> {
  const { owner, provider, job, enabled, name, after, limit } = filter;
  let query = db.selectFrom('monitor').selectAll().orderBy('id');
  if (owner !== undefined) query = query.where('owner', owner === null ? 'is' : '=', owner);
  if (provider !== undefined) query = query.where('provider', '=', provider);
  if (job !== undefined) query = query.where('provider', job ? 'is not' : 'is', null);
  if (enabled !== undefined) query = query.where('enabled', '=', enabled ? 1 : 0);
  if (name !== undefined) query = query.where(nameContains(name));
  if (after !== undefined) query = query.where('id', '>', after);
  if (limit !== undefined) query = query.limit(limit);
  return (await query.execute()).map((row) => readMonitor(row, secrets));
}

export async function getMonitor(db: Db, secrets: Secrets, id: string): Promise<Monitor | undefined> {
  const row = await db.selectFrom('monitor').selectAll().where('id', '=', id).executeTakeFirst();
  return row && readMonitor(row, secrets);
}

/** A third-party job as its owner sees it. */
export type Job = Pick<Monitor, 'id' | 'name' | 'enabled'> & { readonly provider: string };

/** The jobs of an owner (null: the operators), by provider. Does not decrypt secrets. */
export async function listJobs(db: Db, owner: string | null): Promise<readonly Job[]> {
  const rows = await db
    .selectFrom('monitor')
    .select(['id', 'name', 'provider', 'enabled'])
    .where('owner', owner === null ? 'is' : '=', owner)
    .where('provider', 'is not', null)
    .orderBy('provider')
    .execute();
  return rows.flatMap(({ provider, enabled, ...row }) =>
    provider === null ? [] : [{ ...row, provider, enabled: enabled === 1 }],
  );
}

async function findJob(db: Db, owner: string | null, provider: string): Promise<Job | undefined> {
  return (await listJobs(db, owner)).find((job) => job.provider === provider);
}

/**
 * Enables a monitor and clears its failures. Held deliveries stay held until a replay. False if the monitor does not
 * exist.
 */
export async function activate(tx: Tx, id: string, now: number): Promise<boolean> {
  const row = await lockMonitor(tx, id);
  if (row === undefined) return false;
  if (row.enabled === 1) return true;
  await updateRow(
    tx,
    id,
    { ...HEALTHY, enabled: 1, enabled_at: row.enabled_at ?? now, disabled_reason: null, disabled_at: null },
    now,
  );
  await mark(tx, DELIVER_QUEUE, [id], now);
  return true;
}

/**
 * Disables a monitor: the service holds its due and later deliveries. False if the monitor does not exist, or is
 * disabled already; the first reason then stays.
 */
export async function disable(
  tx: Tx,
  id: string,
  reason: NonNullable<Monitor['disabledReason']>,
  now: number,
): Promise<boolean> {
  const row = await lockMonitor(tx, id);
  if (row === undefined || row.enabled === 0) return false;
  await updateRow(tx, id, { enabled: 0, disabled_reason: reason, disabled_at: now }, now);
  await holdDue(tx, id, now);
  return true;
}

/**
 * Gives a monitor a new signing secret, the first of `security.secrets`. For 24 h posts are also signed with the old
 * one, so that the receiver has time to switch. Undefined if the monitor does not exist.
 */
export async function rotateSecret(tx: Tx, secrets: Secrets, id: string, now: number): Promise<Monitor | undefined> {
  const row = await lockMonitor(tx, id);
  if (row === undefined) return undefined;
  const { security } = readMonitor(row, secrets);
  const old = security.secrets
    .map(({ secret, expiresAt }) => ({ secret, expiresAt: expiresAt ?? now + ROTATION_MS }))
    .filter(({ expiresAt }) => expiresAt > now);
  const rotated = { ...security, secrets: [{ secret: newSecret(), expiresAt: null }, ...old] };
  const to = { security: writeSecurity(rotated, secrets) };
  await updateRow(tx, id, to, now);
  return readMonitor({ ...row, ...to }, secrets);
}

const HEALTHY = { failing_since: null, failed_attempts: 0, notices: 0 } as const;

const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** Valid addresses in their stored form, each once. */
const distinct = (emails: readonly string[]): readonly string[] => [
  ...new Set(emails.map((email) => readAddress(email) ?? email)),
];

function throwIfInvalid(issues: MonitorError['issues']): void {
  if (issues.length > 0) throw new MonitorError(issues);
}

const providerTaken = (provider: string): MonitorError =>
  new MonitorError([{ path: '/provider', message: `has a job already: each key can have one job for ${provider}` }]);

/** Reads and locks a monitor until the transaction ends; SQLite has one writer and needs no lock. */
export async function lockMonitor(tx: Tx, id: string): Promise<MonitorRow | undefined> {
  return tx
    .selectFrom('monitor')
    .selectAll()
    .where('id', '=', id)
    .$if(engineOf(tx) === 'postgres', (query) => query.forUpdate())
    .executeTakeFirst();
}

async function updateRow(tx: Tx, id: string, to: Partial<MonitorRow>, now: number): Promise<void> {
  await tx
    .updateTable('monitor')
    .set({ ...to, updated_at: now })
    .where('id', '=', id)
    .execute();
}

/** Cancels the pending mails to former recipients, except notices: those may go to an operator. */
async function cancelMail(tx: Tx, id: string, recipients: readonly string[], now: number): Promise<void> {
  await tx
    .updateTable('mail')
    .set({ failed_at: now, error: 'no longer a recipient' })
    .where('monitor', '=', id)
    .where('recipient', 'not in', each(tx, recipients))
    .where('kind', '<>', 'notice')
    .where('sent_at', 'is', null)
    .where('failed_at', 'is', null)
    .execute();
}

/** Deletes the refusals of former recipients. Recipients who unsubscribed stay unsubscribed. */
async function forgetRefused(tx: Tx, id: string, recipients: readonly string[]): Promise<void> {
  const listed = recipients.map(sameAddress);
  await tx
    .deleteFrom('unsubscribed')
    .where('monitor', '=', id)
    .where('bounced', 'is not', null)
    .where('recipient', 'not in', each(tx, listed))
    .execute();
}

/**
 * Marks the lane first: this waits for a publisher that is inserting due deliveries, and this transaction then sees
 * them.
 */
async function holdDue(tx: Tx, id: string, now: number): Promise<void> {
  await mark(tx, DELIVER_QUEUE, [id], now);
  await tx
    .updateTable('delivery')
    .set({ state: 'held', next_at: now })
    .where('monitor', '=', id)
    .where('state', '=', 'due')
    .execute();
}
