/**
 * freshness: keeps the time between reading records and writing to them short. What a person edits in between is lost,
 * for no CRM takes a write on the condition that nothing changed in a batch.
 */
import { type Patch, ProviderError } from '../../../providers/provider.ts';
import type { Metrics } from '../../http/metrics.ts';
import type { SendGuard } from '../crm/send-guard.ts';

/** What was read longer ago than this is read again. */
const FRESH_MS = 250;
/** How often one batch is read again: a CRM that is busy all the time must get its writes too. */
const MOST_REREADS = 2;

export interface Freshness {
  /** Stops a write whose read has grown old, and measures the others. */
  readonly guard: SendGuard;
  /** Whether a write was stopped since the last reading. */
  isStale(): boolean;
  /** Reads these records again, and decides them anew: their patches. */
  renew(ids: readonly string[]): Promise<readonly Patch[]>;
}

export interface FreshnessOptions {
  readonly provider: string;
  readonly metrics: Pick<Metrics, 'readToWriteSeconds' | 'rereads'>;
  readonly now: () => number;
  /** When the CRM had answered what is to be written now, in ms since 1970. */
  readonly readAt: () => number;
  /** Reads records, decides them, and returns their patches. */
  readonly read: (ids: readonly string[]) => Promise<readonly Patch[]>;
}

/** Watches over the writes of one batch that has just been read. */
export function readFresh({ provider, metrics, now, readAt, read }: FreshnessOptions): Freshness {
  let rereads = 0;
  let stale = false;
  return {
    guard({ method }) {
      if (method === 'GET') return;
      const age = now() - readAt();
      if (age > FRESH_MS && rereads < MOST_REREADS) {
        stale = true;
        throw new ProviderError(
          'rate',
          'the records were read too long ago: they are read again before they are written',
        );
      }
      metrics.readToWriteSeconds.observe({ provider }, Math.max(0, age) / 1_000);
    },
    isStale: () => stale,
    renew(ids) {
      rereads += 1;
      stale = false;
      metrics.rereads.inc({ provider });
      return read(ids);
    },
  };
}
