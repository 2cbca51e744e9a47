/**
 * freshness: keeps the time between reading records and writing to them short. What a person edits in between is lost
 * if nobody notices it, for no CRM takes a write on the condition that nothing changed in a batch.
 */
import { type Patch, ProviderError } from '../../../providers/provider.ts';
import type { Metrics } from '../../http/metrics.ts';
import type { CallPair, SendGuard } from '../crm/send-guard.ts';

/** A write leaves within this time of the start of its read, in ms; else the records are read again. */
export const FRESH_MS = 250;

/** When a write may have replaced an edit, in ms since 1970: from the start of its read to the answer. */
export interface WriteWindow {
  readonly from: number;
  readonly to: number;
}

export interface Freshness {
  /** Stops a write whose read has grown old. */
  readonly guard: SendGuard;
  /** The calls of the last reading and of the write that follows it. */
  readonly pair?: CallPair;
  /** Whether a write was stopped since the last reading. */
  isStale(): boolean;
  /** How old the last reading is, in ms. */
  age(): number;
  /** Reads these records again, and decides them anew: their patches. */
  renew(ids: readonly string[]): Promise<readonly Patch[]>;
  /** Lets a write leave later, where the CRM itself takes so long to answer a read: by the time that the last one took. */
  widen(): void;
  /** The window of what was written since the last reading, which ends now. Measures it where anything left. */
  answered(): WriteWindow;
}

export interface FreshnessOptions {
  readonly provider: string;
  readonly metrics: Pick<Metrics, 'readToWriteSeconds' | 'rereads'>;
  readonly now: () => number;
  readonly pair: CallPair;
  /** When the reading of what is to be written now began, in ms since 1970. */
  readonly readFrom: () => number;
  /** Reads records, decides them, and returns their patches. */
  readonly read: (ids: readonly string[]) => Promise<readonly Patch[]>;
}

/** Stops the write of records that were read too long ago. */
export const tooOld = (): ProviderError =>
  new ProviderError('rate', 'the records were read too long ago: they are read again before they are written');

/** Watches over the writes of one batch that has just been read. */
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
