/** Writes the outcomes of many runs in one transaction: a commit costs the same for one attempt as for a hundred. */
import { createGroupCommit } from '../../runtime/group-commit.ts';
import { ASIDE, type Store } from '../../store/store.ts';
import type { Secrets } from '../keys/secrets.ts';
import { type Entry, type RecordedAttempt, record } from './record-attempt.ts';

export interface Ledger {
  /** Resolves once the entry is on disk; rejects only if this entry fails. */
  write(entry: Entry): Promise<RecordedAttempt>;
}

export interface LedgerOptions {
  readonly store: Store;
  readonly now: () => number;
  readonly secrets: Secrets;
  readonly admin?: string | undefined;
  /** Of the times in these notices; Danish time if absent. */
  readonly timeZone?: string | undefined;
  readonly onWritten: () => void;
}

const BATCH = 512;
/** The longest wait of an entry, alone and in a burst. Only the next delivery of its company waits for it. */
const WAIT_MS = 2;
const BURST = { size: 16, waitMs: 25 };

export function createLedger({ store, now, secrets, admin, timeZone, onWritten }: LedgerOptions): Ledger {
  const commits = createGroupCommit<Entry, RecordedAttempt>({
    batchSize: BATCH,
    waitMs: WAIT_MS,
    burst: BURST,
    beginBatch: oneClaimEach,
    write: async (entries) => {
      const written = await store.write((tx) => record(tx, entries, { now: now(), secrets, admin, timeZone }), ASIDE);
      if (entries.some(({ result }) => result !== undefined && result.state !== 'done')) onWritten();
      return entries.map((entry) => written.get(entry) ?? 'lost');
    },
  });
  return { write: commits.add };
}

/** Takes one claim per lane into a batch, because a newer claim makes an older one invalid. */
function oneClaimEach(): (entry: Entry) => boolean {
  const tokens = new Map<string, number>();
  return ({ claim: { key, fence } }) => {
    const first = tokens.get(key) ?? fence;
    if (first !== fence) return false;
    tokens.set(key, fence);
    return true;
  };
}
