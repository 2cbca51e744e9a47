/** Replay runs: the deliveries to send again, and the result for each. */
import type { RunItem } from '../../../runtime/runs/run-items.ts';
import type { RunTask } from '../../../runtime/runs/runs.ts';
import type { DeliveryFilter, Replayable } from '../deliveries.ts';

export interface ReplayRequest extends Pick<DeliveryFilter, 'monitor' | 'state' | 'entity' | 'since' | 'until'> {
  /** The most deliveries, oldest first. */
  readonly limit?: number;
}

/** `planned`: would be due again; `due`: is due again; `changed`: somebody changed it after the preview. */
export type ReplayResult = 'planned' | 'due' | 'changed';

export const REPLAY: RunTask<ReplayRequest> = {
  queue: 'replay',
  counts: 'deliveries',
  fine: ['planned', 'due'],
  audit: ({ id, input }) => ({
    action: 'delivery.replay',
    subject: input.monitor ?? input.entity ?? String(id),
    detail: { run: id, ...input },
  }),
};

/** Numbers of equal length sort like numbers. */
const DIGITS = 16;

export const itemOf = ({ seq, monitor, entity, was, createdAt }: Replayable, kind: ReplayResult): RunItem => ({
  key: String(seq).padStart(DIGITS, '0'),
  kind,
  detail: JSON.stringify({ delivery: seq, monitor, entity, was, created: new Date(createdAt).toISOString() }),
});
