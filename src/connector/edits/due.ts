/** When records that were written are checked for edits that the writes went over. */

import { mark } from '../../runtime/lanes/lanes.ts';
import type { Tx } from '../../store/store.ts';
import { editsQueue } from '../names/queues.ts';
import type { WriteWindow } from '../write/freshness.ts';

const MINUTE_MS = 60_000;
/** Records of one period are due together: one call checks many of them. */
const PERIOD_MS = 5 * MINUTE_MS;
/** A write is checked this long after it at the earliest: other writes join it, and the CRM's history is complete. */
const SOONEST_MS = 3 * MINUTE_MS;
/** A write is due this long after it at the latest. */
export const LATEST_MS = SOONEST_MS + PERIOD_MS;

/** The longer an edit had time to fall between read and write, the sooner its record is due. */
const HEAD_STARTS: readonly { readonly overMs: number; readonly byMs: number }[] = [
  { overMs: 2_000, byMs: 2 * MINUTE_MS },
  { overMs: 500, byMs: MINUTE_MS },
  { overMs: 0, byMs: 0 },
];

/** A record that was written, and when the write may have gone over an edit. */
export interface WrittenRecord {
  readonly id: string;
  readonly window: WriteWindow;
}

/** Has the records checked later, in the transaction that says what was written. */
export async function markWritten(
  tx: Tx,
  provider: string,
  written: readonly WrittenRecord[],
  now: number,
): Promise<void> {
  const due = Math.ceil((now + SOONEST_MS) / PERIOD_MS) * PERIOD_MS;
  const headStart = ({ window: { from, to } }: WrittenRecord) =>
    HEAD_STARTS.find(({ overMs }) => to - from > overMs)?.byMs ?? 0;
  for (const [byMs, some] of Map.groupBy(written, headStart))
    await mark(
      tx,
      editsQueue(provider),
      some.map(({ id }) => id),
      due - byMs,
    );
}
