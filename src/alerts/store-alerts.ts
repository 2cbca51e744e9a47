/**
 * Reports that the daemon cannot use the store, and later that it can. Each daemon reports for itself; a restart loses
 * the state, which is in memory.
 */
import { errorText } from '../protocol/text/error-text.ts';
import { backoff } from '../runtime/backoff.ts';
import { pause } from '../runtime/limits/pause.ts';
import type { StoreOutage } from '../runtime/store-watch.ts';
import type { Channel } from './channel.ts';
import type { Condition } from './conditions.ts';
import { messageId, messageOf } from './message.ts';
import { type StoredAlert, step } from './state.ts';

export interface StoreAlertDeps {
  readonly now: () => number;
  readonly log: { warn(details: object, message: string): void };
  readonly place: string;
  readonly daemon: string;
  readonly outage: () => StoreOutage | undefined;
  readonly everyMs?: number;
}

const EVERY_MS = 10_000;
const LONGEST_BACKOFF_MS = 5 * 60_000;
/** Ignores a restart or failover of the database. */
const OUTAGE_MS = 60_000;

export async function alertOfStore(
  { now, log, place, daemon, outage, everyMs = EVERY_MS }: StoreAlertDeps,
  channel: Channel,
  signal: AbortSignal,
): Promise<void> {
  let before: readonly StoredAlert[] = [];
  let failures = 0;
  while (!signal.aborted) {
    const found = step(before, conditionsOf(outage(), daemon), now());
    const isNews = found.begun.length + found.over.length > 0;
    const message = messageOf(found, place);
    const error = isNews ? await channel.send(message, messageId(message), signal).catch(errorText) : undefined;
    before = error === undefined ? found.sent : found.unsent;
    failures = error === undefined ? 0 : failures + 1;
    if (error !== undefined && !signal.aborted)
      log.warn({ error, channel: channel.name }, 'an alert could not be sent: trying again');
    await pause(failures === 0 ? everyMs : backoff(failures, { capMs: LONGEST_BACKOFF_MS }), signal);
  }
}

const conditionsOf = (outage: StoreOutage | undefined, daemon: string): readonly Condition[] =>
  outage === undefined
    ? []
    : [
        {
          key: 'store',
          what: `The daemon ${daemon} cannot use its store`,
          advice: `Cause: ${outage.error}. Senders of webhooks are asked to repeat, and all other work waits; cvrsync goes on by itself once the store answers.`,
          since: outage.since,
          afterMs: OUTAGE_MS,
        },
      ];
