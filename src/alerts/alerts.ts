/**
 * Sends the operator one message when a condition begins that needs a person, and one when it ends. Each channel is a
 * lane with its own state: one replica sends, and a channel that is down delays no other. {@link alertOfStore} reports
 * an outage of the store from memory.
 */
import { backoff } from '../runtime/backoff.ts';
import { type Claim, mark, type Settlement, settle } from '../runtime/lanes/lanes.ts';
import type { StrayError } from '../runtime/stray-error.ts';
import { createWakeUp } from '../runtime/wake-up.ts';
import { startWorker, type Worker } from '../runtime/worker.ts';
import { each } from '../store/each.ts';
import { readErasures } from '../store/erasure/erasures.ts';
import type { Db, Store, Tx } from '../store/store.ts';
import { type AlertSettings, type Channel, openChannels } from './channel.ts';
import { conditionsOf } from './conditions.ts';
import { messageId, messageOf } from './message.ts';
import { observe } from './observe.ts';
import { digestLane, endDigest, markDigests, sendDigest } from './send-digest.ts';
import { type StoredAlert, step } from './state.ts';
import { alertOfStore, type StoreAlertDeps } from './store-alerts.ts';

const ALERT_QUEUE = 'alerts';

const EVERY_MS = 60_000;
const LONGEST_BACKOFF_MS = 15 * 60_000;

export interface AlertDeps extends StoreAlertDeps {
  readonly store: Store;
  /** The dashboard's address in a browser, for links. */
  readonly dashboard?: string | undefined;
  /** Of the digest's days and hour. */
  readonly timeZone: string;
  readonly log: { error(details: object, message: string): void; warn(details: object, message: string): void };
}

export interface Alerts {
  drained(): Promise<void>;
  stop(graceMs: number, stray?: StrayError): Promise<void>;
}

export async function startAlerts(deps: AlertDeps, settings: AlertSettings): Promise<Alerts> {
  const { store, now, log, timeZone } = deps;
  const channels = openChannels(settings);
  const digest = settings.digest && { ...settings.digest, timeZone };
  await store.write(async (tx) => {
    const names = channels.map(({ name }) => name);
    await mark(tx, ALERT_QUEUE, names, now());
    if (digest !== undefined) await markDigests(tx, ALERT_QUEUE, channels, { digest, now: now() });
  });
  const worker: Worker = startWorker({
    store,
    wakeUp: createWakeUp(),
    now,
    log,
    queue: ALERT_QUEUE,
    batch: 1,
    concurrency: channels.length,
    async run(claims, signal) {
      for (const claim of claims) {
        const digested = channels.find(({ name }) => digestLane(name) === claim.key);
        if (digested !== undefined) {
          if (digest === undefined) await endDigest(store, claim);
          else await sendDigest({ ...deps, channel: digested, digest }, claim, signal);
          continue;
        }
        const channel = channels.find(({ name }) => name === claim.key);
        // A lane of a replica with another or earlier configuration.
        if (channel === undefined) await store.write((tx) => settle(tx, claim, { kind: 'done' }));
        else await alert({ ...deps, settings, channel }, claim, signal);
      }
    },
  });
  const stopping = new AbortController();
  const storeAlerts = channels.map((channel) => alertOfStore(deps, channel, stopping.signal));
  return {
    drained: worker.drained,
    async stop(graceMs, stray) {
      stopping.abort();
      await Promise.all([worker.stop(graceMs, stray), ...storeAlerts]);
      await Promise.all(channels.map((channel) => channel.close()));
    },
  };
}

/** Observes the store once, and sends what is due through one channel. */
async function alert(
  {
    store,
    now,
    log,
    place,
    settings,
    channel,
  }: AlertDeps & { readonly settings: AlertSettings; readonly channel: Channel },
  claim: Claim,
  signal: AbortSignal,
): Promise<void> {
  const at = now();
  const before = await readRemembered(store.db, channel.name);
  const found = step(before, conditionsOf(await observe(store, at, settings.reviewOver), settings, at), at);
  const message = messageOf(found, place);
  const isNews = found.begun.length + found.over.length > 0;
  const error = isNews ? await channel.send(message, messageId(message), signal) : undefined;
  if (error !== undefined) log.warn({ error, channel: channel.name }, 'an alert could not be sent: trying again');
  const settlement: Settlement =
    error === undefined
      ? { kind: 'again', at: now() + EVERY_MS, fresh: true }
      : { kind: 'again', at: now() + backoff(claim.attempts + 1, { capMs: LONGEST_BACKOFF_MS }), error };
  await store.write(async (tx) => {
    const isOurs = await settle(tx, claim, settlement);
    // Remembers a sent message even if the lease was lost, so that nobody gets it twice.
    if (isOurs || isNews) await remember(tx, channel.name, error === undefined ? found.sent : found.unsent);
  });
}

async function readRemembered(db: Db, channel: string): Promise<readonly StoredAlert[]> {
  const rows = await db.selectFrom('alert').selectAll().where('channel', '=', channel).orderBy('key').execute();
  return rows.map(({ key, what, since, notified_at, gone_at }) => ({
    key,
    what,
    since,
    notifiedAt: notified_at,
    goneAt: gone_at,
  }));
}

async function remember(tx: Tx, channel: string, all: readonly StoredAlert[]): Promise<void> {
  const keys = all.map(({ key }) => key);
  await tx.deleteFrom('alert').where('channel', '=', channel).where('key', 'not in', each(tx, keys)).execute();
  const { redact } = await readErasures(tx);
  for (const { key, what, since, notifiedAt, goneAt } of all) {
    const row = { what: redact(what), since, notified_at: notifiedAt, gone_at: goneAt };
    await tx
      .insertInto('alert')
      .values({ channel, key, ...row })
      .onConflict((conflict) => conflict.columns(['channel', 'key']).doUpdateSet(row))
      .execute();
  }
}
