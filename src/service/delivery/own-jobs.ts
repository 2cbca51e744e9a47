/**
 * The jobs of a connector in the same process. cvrsync gives the connector a key and posts to its webhook, as for any
 * other client.
 */
import type { Auth } from '../../protocol/auth.ts';
import { type Daemon, readDaemons } from '../../runtime/daemons.ts';
import { untilDone } from '../../runtime/housekeeping/prune.ts';
import { mark } from '../../runtime/lanes/lanes.ts';
import type { Db, Store, Tx } from '../../store/store.ts';
import { ensureKey, keyFrom } from '../keys/keys.ts';
import type { Secrets } from '../keys/secrets.ts';
import { createJob } from '../monitors/jobs.ts';
import type { Credentials, Monitor } from '../monitors/monitor.ts';
import { writeSecurity } from '../monitors/monitor-row.ts';
import { activate, getMonitor, listJobs, updateMonitor } from '../monitors/monitors.ts';
import { DELIVER_QUEUE } from '../names/queues.ts';
import { dropDeliveries, replayHeld } from './deliveries.ts';

/** The id of the connector's key. */
export const OWN_CONNECTOR = 'own-connector';

export const isOwnJob = ({ owner }: Pick<Monitor, 'owner'>): boolean => owner === OWN_CONNECTOR;

export async function ownJobIds(db: Db): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('monitor')
    .select('id')
    .where('owner', '=', OWN_CONNECTOR)
    // Lets the engines use the index, which holds only jobs.
    .where('provider', 'is not', null)
    .execute();
  return rows.map(({ id }) => id);
}

const DAY_MS = 86_400_000;
const UNTAKEN_DAYS = 14;
const BATCH_SIZE = 500;

/** Drops deliveries that waited 14 days for a connector that no longer runs, as held ones are dropped. */
export async function dropExpired(store: Store, now: number, signal: AbortSignal): Promise<void> {
  if ((await readDaemons(store.db, now)).some(takesOwnJobs)) return;
  for (const monitor of await ownJobIds(store.db)) {
    const expired = { monitor, state: 'due', until: now - UNTAKEN_DAYS * DAY_MS, limit: BATCH_SIZE } as const;
    await untilDone(store, signal, async (tx) => (await dropDeliveries(tx, expired, now)) === BATCH_SIZE);
  }
}

/** A connector with its own upstream takes deliveries from there. */
const takesOwnJobs = ({ digests: { connector, service }, roles }: Daemon): boolean =>
  roles.includes('service') && connector !== undefined && service !== undefined && connector['upstream'] === undefined;

/** Shorter waits than for other webhooks, because the connector returns with this process. */
const SCHEDULE = [0, 1, 5, 30, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

/** The key of our own connector, equal in every process with the service's key. */
export const ownKey = (secrets: Pick<Secrets, 'sign'>): string => keyFrom(secrets.sign(OWN_CONNECTOR));

export interface OwnConnector {
  readonly url: string;
  readonly auth: Auth;
  readonly providers: readonly string[];
}

/**
 * Creates or updates one job for each provider of our own connector, and sends its held and delayed deliveries at
 * once. Idempotent. Returns the providers with a new job.
 */
export async function ensureOwnJobs(
  tx: Tx,
  secrets: Secrets,
  own: OwnConnector,
  now: number,
): Promise<readonly string[]> {
  // Locks the key, so that no other process creates a second job of a provider.
  await ensureKey(
    tx,
    { id: OWN_CONNECTOR, name: 'connector of this process', key: ownKey(secrets), scopes: ['monitoring'] },
    now,
  );
  const jobs = await listJobs(tx, OWN_CONNECTOR);
  const webhook = { url: own.url, credentials: credentialsOf(own.auth), schedule: SCHEDULE };
  const made: string[] = [];
  for (const provider of own.providers) {
    const known = jobs.find((job) => job.provider.toLowerCase() === provider.toLowerCase());
    const { id } = known ?? (await createJob(tx, { ...webhook, provider, key: OWN_CONNECTOR }, { secrets, now }));
    if (known === undefined) made.push(provider);
    else await updateMonitor(tx, id, webhook, { secrets, now });
    if (own.auth.method === 'Signature') await signWith(tx, secrets, id, own.auth.secret);
    await activate(tx, id, now);
    await replayHeld(tx, id, now);
    await retryNow(tx, id, now);
  }
  return made;
}

/** Makes deliveries due that failed while the connector was away. */
async function retryNow(tx: Tx, monitor: string, now: number): Promise<void> {
  await mark(tx, DELIVER_QUEUE, [monitor], now);
  await tx
    .updateTable('delivery')
    .set({ next_at: now })
    .where('monitor', '=', monitor)
    .where('state', '=', 'due')
    .where('next_at', '>', now)
    .execute();
}

const credentialsOf = (auth: Auth): Credentials => (auth.method === 'Signature' ? { method: 'None' } : auth);

async function signWith(tx: Tx, secrets: Secrets, id: string, secret: string): Promise<void> {
  const monitor = await getMonitor(tx, secrets, id);
  if (monitor === undefined) return;
  const security = { ...monitor.security, secrets: [{ secret, expiresAt: null }] };
  await tx
    .updateTable('monitor')
    .set({ security: writeSecurity(security, secrets) })
    .where('id', '=', id)
    .execute();
}
