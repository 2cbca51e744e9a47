/**
 * Keeps the time between read and write short. A person's edit in between is lost unnoticed, because no CRM offers
 * conditional writes for a batch.
 */
import { type Patch, ProviderError } from '../../../providers/provider.ts';
import type { Metrics } from '../../http/metrics.ts';
import type { CallPair, SendGuard } from '../crm/send-guard.ts';

/** A write leaves within this time after the start of its read; otherwise the records are read again. */
export const FRESH_MS = 250;

/** When a write may have replaced an edit: from the start of its read to the answer. */
export interface WriteWindow {
  readonly from: number;
  readonly to: number;
}

export interface Freshness {
  readonly guard: SendGuard;
  readonly pair?: CallPair;
  isStale(): boolean;
  /** Age of the last read, in ms. */
  age(): number;
  /** Reads and decides these records again; returns their patches. */
  renew(ids: readonly string[]): Promise<readonly Patch[]>;
  /** Allows a later write if the CRM takes long to answer a read: by the duration of the last read. */
  widen(): void;
  /** The write window since the last read, which ends now; recorded in the metrics if anything was sent. */
  answered(): WriteWindow;
}

export interface FreshnessOptions {
  readonly provider: string;
  readonly metrics: Pick<Metrics, 'readToWriteSeconds' | 'rereads'>;
  readonly now: () => number;
  readonly pair: CallPair;
  readonly readFrom: () => number;
  readonly read: (ids: readonly string[]) => Promise<readonly Patch[]>;
}

export const tooOld = (): ProviderError =>
  new ProviderError('rate', 'the records were read too long ago: they are read again before they are written');

/** Guards the writes of one batch that was just read. */
export function readFresh({ provider, metrics, now, pair, readFrom, read }: FreshnessOptions): Freshness {
  let stale = false;
  let hasLeft = false;
  let isWide = false;
  const age = (): number => now() - readFrom();
  let readMs = age();
  return {
    pair,
    guard({ method }) {
      if (method === 'GET') return;
      if (age() > FRESH_MS + (isWide ? readMs : 0)) {
        stale = true;
        throw tooOld();
      }
      hasLeft = true;
    },
    isStale: () => stale,
    age,
    async renew(ids) {
      stale = false;
      hasLeft = false;
      metrics.rereads.inc({ provider });
      const patches = await read(ids);
      readMs = age();
      return patches;
    },
    widen() {
      isWide = true;
    },
    answered() {
      const window = { from: readFrom(), to: now() };
      if (hasLeft) metrics.readToWriteSeconds.observe({ provider }, Math.max(0, window.to - window.from) / 1_000);
      return window;
    },
  };
}
