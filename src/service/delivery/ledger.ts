/** Writes what many runs have to write in few transactions: a commit costs as much for one attempt as for a hundred. */
import { createGroupCommit } from '../../runtime/group-commit.ts';
import type { Store } from '../../store/store.ts';
import type { Secrets } from '../keys/secrets.ts';
import { type Entry, type RecordedAttempt, record } from './record.ts';

export interface Ledger {
  /** Resolves once the entry is on disk. Rejects where it could not be written, and then only for this one. */
  write(entry: Entry): Promise<RecordedAttempt>;
}

export interface LedgerOptions {
  readonly store: Store;
  readonly now: () => number;
  readonly secrets: Secrets;
  readonly admin?: string | undefined;
  /** Something was written that a mail may follow from. */
  readonly onWritten: () => void;
}

const BATCH = 512;
/** The longest an entry waits for others, and in a burst: nothing but the next of its company waits for it. */
const WAIT_MS = 2;
const BURST = { size: 16, waitMs: 25 };

export function createLedger({ store, now, secrets, admin, onWritten }: LedgerOptions): Ledger {
  const commits = createGroupCommit<Entry, RecordedAttempt>({
    batchSize: BATCH,
    waitMs: WAIT_MS,
    burst: BURST,
    beginBatch: oneClaimEach,
    write: async (entries) => {
      const written = await store.write((tx) => record(tx, entries, { now: now(), secrets, admin }));
      if (entries.some(({ result }) => result !== undefined && result.state !== 'done')) onWritten();
      return entries.map((entry) => written.get(entry) ?? 'lost');
    },
  });
  return { write: commits.add };
}

/** Of one lane a batch takes only one claim, since an older one may have lost it to a newer. */
function oneClaimEach(): (entry: Entry) => boolean {
  const fences = new Map<string, number>();
  return ({ claim: { key, fence } }) => {
    const first = fences.get(key) ?? fence;
    if (first !== fence) return false;
    fences.set(key, fence);
    return true;
  };
}
