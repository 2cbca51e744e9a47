/** When to check written records for replaced edits. */

import { mark } from '../../runtime/lanes/lanes.ts';
import type { Tx } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { editsQueue } from '../names/queues.ts';
import type { WriteWindow } from '../write/freshness.ts';

const MINUTE_MS = 60_000;
/** Records of one period are due together: one call checks many. */
const PERIOD_MS = 5 * MINUTE_MS;
/** Earliest check after a write: other writes join it, and the CRM's history is complete. */
const SOONEST_MS = 3 * MINUTE_MS;
export const LATEST_MS = SOONEST_MS + PERIOD_MS;

/** The longer the time between read and write, the sooner the check. */
const HEAD_STARTS: readonly { readonly overMs: number; readonly byMs: number }[] = [
  { overMs: 2_000, byMs: 2 * MINUTE_MS },
  { overMs: 500, byMs: MINUTE_MS },
  { overMs: 0, byMs: 0 },
];

export interface WrittenRecord {
  readonly id: string;
  readonly window: WriteWindow;
}

/** Marks records for a check, in the transaction that stores their writes; none if the CRM has no history of edits. */
export async function markBlindWrites(
  tx: Tx,
  { name: provider, connection }: Pick<Crm, 'name' | 'connection'>,
  written: readonly WrittenRecord[],
  now: number,
): Promise<void> {
  if (connection.edits === undefined) return;
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
