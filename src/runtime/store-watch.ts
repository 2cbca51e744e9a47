/**
 * Tracks whether this daemon can write to the store. Keeps that in memory, because reporting an outage must not need
 * the store.
 */
import { fullErrorText } from '../protocol/text/error-text.ts';
import { pause } from './limits/pause.ts';

export interface StoreOutage {
  readonly since: number;
  readonly error: string;
}

export interface StoreWatch {
  outage(): StoreOutage | undefined;
  /** Uses the store and records whether that worked. Resolves within seconds and never rejects. */
  probe(use: () => Promise<void>): Promise<void>;
}

export interface StoreWatchOptions {
  readonly now: () => number;
  readonly log: { info(details: object, message: string): void; error(details: object, message: string): void };
  readonly metrics: { readonly storeUp: { set(value: 0 | 1): void } };
}

const DEADLINE_MS = 15_000;

export function createStoreWatch({ now, log, metrics }: StoreWatchOptions): StoreWatch {
  let outage: StoreOutage | undefined;
  let running: Promise<unknown> | undefined;
  metrics.storeUp.set(1);

  function note(error: unknown): void {
    metrics.storeUp.set(error === undefined ? 1 : 0);
    if (error !== undefined) {
      if (outage === undefined) log.error({ err: error }, 'the store cannot be used: work waits until it can');
      outage = { since: outage?.since ?? now(), error: fullErrorText(error) };
    } else if (outage !== undefined) {
      const since = new Date(outage.since).toISOString();
      log.info({ since, seconds: Math.round((now() - outage.since) / 1_000) }, 'the store can be used again');
      outage = undefined;
    }
  }

  return {
    outage: () => outage,
    async probe(use) {
      const over = new AbortController();
      // A probe that hangs continues: a second one would hang too.
      running ??= use().then(
        () => undefined,
        (error: unknown) => error,
      );
      const late = pause(DEADLINE_MS, over.signal).then(() => new Error('it does not answer'));
      const result = await Promise.race([running.finally(() => (running = undefined)), late]);
      over.abort();
      note(result);
    },
  };
}
