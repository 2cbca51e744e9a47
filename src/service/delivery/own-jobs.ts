/**
 * The jobs of a connector in the same process: it is told as everybody is, by POSTs to its webhook, and calls with a key
 * of its own; only that nobody has to set this up.
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

/** The connector's key; its jobs belong to it. */
export const OWN_CONNECTOR = 'own-connector';

/** Whether a monitor is a job of our own connector. */
export const isOwnJob = ({ owner }: Pick<Monitor, 'owner'>): boolean => owner === OWN_CONNECTOR;

/** The ids of the jobs of our own connectors, whichever process runs these. */
export async function ownJobIds(db: Db): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('monitor')
    .select('id')
    .where('owner', '=', OWN_CONNECTOR)
    // Its index has jobs only.
    .where('provider', 'is not', null)
    .execute();
  return rows.map(({ id }) => id);
}

const DAY_MS = 86_400_000;
const UNTAKEN_DAYS = 14;
const BATCH_SIZE = 500;

/** Drops what has waited 14 days for a connector that runs nowhere, as what is held for so long is dropped. */
export async function dropExpired(store: Store, now: number, signal: AbortSignal): Promise<void> {
  if ((await readDaemons(store.db, now)).some(takesOwnJobs)) return;
  for (const monitor of await ownJobIds(store.db)) {
    const expired = { monitor, state: 'due', until: now - UNTAKEN_DAYS * DAY_MS, limit: BATCH_SIZE } as const;
    await untilDone(store, signal, async (tx) => (await dropDeliveries(tx, expired, now)) === BATCH_SIZE);
  }
}

/** A connector with an upstream of its own is told by that one. */
const takesOwnJobs = ({ digests: { connector, service }, roles }: Daemon): boolean =>
  roles.includes('service') && connector !== undefined && service !== undefined && connector['upstream'] === undefined;

/** Attempts come sooner than to strangers: it is back as soon as this process is. */
const SCHEDULE = [0, 1, 5, 30, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

/** The access key our own connector calls with: the same in every process that holds the service's key. */
export const ownKey = (secrets: Pick<Secrets, 'sign'>): string => keyFrom(secrets.sign(OWN_CONNECTOR));

export interface OwnConnector {
  /** Where this process takes webhooks. */
  readonly url: string;
  /** How its webhook is proven. */
  readonly auth: Auth;
  readonly providers: readonly string[];
}

/**
 * Makes or brings up to date one job for each provider of our own connector, and sends at once what was held for it or
 * waits for another try. Idempotent. Returns the providers whose job is new.
 */
export async function ensureOwnJobs(
  tx: Tx,
  secrets: Secrets,
  own: OwnConnector,
  now: number,
): Promise<readonly string[]> {
  // Locks the key: nobody makes a second job of one provider meanwhile.
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

/** What failed while the connector was away, or was put off as it stopped, need not wait any longer. */
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
