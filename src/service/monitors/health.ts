/** Decides when to disable a failing webhook, and which notices go out before. */

const DAY_MS = 86_400_000;
/** A monitor is disabled after this long and this many attempts without a success. */
const PATIENCE_MS = 5 * DAY_MS;
const LEAST_ATTEMPTS = 20;
/** The first notice waits this long, because a restart takes less. */
const EARLY_MS = 2 * 3_600_000;

const NOTICES = { failed: 1, halfway: 2, disabled: 4, failing: 8 } as const;
export type NoticeKind = keyof typeof NOTICES | 'gone';

export interface Health {
  /** Null while deliveries succeed. */
  readonly failingSince: number | null;
  readonly failedAttempts: number;
  /** Sum of the {@link NOTICES} that went out since `failingSince`. */
  readonly notices: number;
}

export const HEALTHY: Health = { failingSince: null, failedAttempts: 0, notices: 0 };

export interface DeliveryFailure {
  readonly at: number;
  /** Whether it was the delivery's last attempt. */
  readonly failed: boolean;
  /** Whether the webhook answered that it wants no more deliveries. */
  readonly gone: boolean;
  /** Whether the delivery was replayed: its first schedule counted already. */
  readonly repeated: boolean;
}

export interface HealthDecision {
  readonly health: Health;
  readonly disable: 'failing' | 'gone' | undefined;
  /** The most serious notice that is due; at most one at a time. */
  readonly notice: NoticeKind | undefined;
}

/**
 * Decides the health of a monitor after a failed attempt. Notices go out after two hours, at the first delivery that
 * fails for good, after half the time, and when the monitor is disabled. Each goes out once until a success resets
 * them.
 */
export function decideHealth(before: Health, failure: DeliveryFailure): HealthDecision {
  const failingSince = before.failingSince ?? failure.at;
  const failedAttempts = before.failedAttempts + (failure.repeated ? 0 : 1);
  const lasted = failure.at - failingSince;
  const disable = failure.gone
    ? 'gone'
    : lasted >= PATIENCE_MS && failedAttempts >= LEAST_ATTEMPTS && !failure.repeated
      ? 'failing'
      : undefined;
  const reached =
    (failure.failed ? NOTICES.failed : 0) |
    (before.notices === 0 && lasted >= EARLY_MS ? NOTICES.failing : 0) |
    (lasted >= PATIENCE_MS / 2 ? NOTICES.halfway : 0) |
    (disable === undefined ? 0 : NOTICES.disabled);
  const fresh = reached & ~before.notices;
  const notices = before.notices | reached;
  return { health: { failingSince, failedAttempts, notices }, disable, notice: noticeOf(fresh, disable) };
}

function noticeOf(fresh: number, disable: HealthDecision['disable']): NoticeKind | undefined {
  if (disable === 'gone') return 'gone';
  if (disable !== undefined) return 'disabled';
  if ((fresh & NOTICES.halfway) > 0) return 'halfway';
  if ((fresh & NOTICES.failed) > 0) return 'failed';
  return (fresh & NOTICES.failing) > 0 ? 'failing' : undefined;
}
