/** When a webhook that does not answer is given up, and who is told before. */

const DAY_MS = 86_400_000;
/** Disabled after so long and so many attempts without a success. */
const PATIENCE_MS = 5 * DAY_MS;
const LEAST_ATTEMPTS = 20;
/** Its owner hears of a webhook that fails for so long: by then it is no restart any more. */
const EARLY_MS = 2 * 3_600_000;

/** The bits of `monitor.notices`. */
export const NOTICES = { failed: 1, halfway: 2, disabled: 4, failing: 8 } as const;
export type NoticeKind = keyof typeof NOTICES | 'gone';

/** How a monitor's webhook is doing, as the store keeps it. */
export interface Health {
  /** Since when nothing succeeded; null while it does. */
  readonly failingSince: number | null;
  readonly failedAttempts: number;
  /** Sum of {@link NOTICES} that went out since. */
  readonly notices: number;
}

export const HEALTHY: Health = { failingSince: null, failedAttempts: 0, notices: 0 };

/** A failed attempt. */
export interface DeliveryFailure {
  readonly at: number;
  /** The delivery's last: it is given up. */
  readonly failed: boolean;
  /** The webhook said that nobody wants these any more. */
  readonly gone: boolean;
  /** An attempt of a delivery that was given up before and asked for again: it was counted then. */
  readonly repeated: boolean;
}

export interface Judgement {
  readonly health: Health;
  readonly disable: 'failing' | 'gone' | undefined;
  /** Who hears of it; one notice at a time, the gravest. */
  readonly notice: NoticeKind | undefined;
}

/**
 * What a failed attempt makes of a monitor. Notices go out after two hours, at the first delivery that is given up, after
 * half the time and when it is disabled; each once until a success resets all.
 */
export function judge(before: Health, failure: DeliveryFailure): Judgement {
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

function noticeOf(fresh: number, disable: Judgement['disable']): NoticeKind | undefined {
  if (disable === 'gone') return 'gone';
  if (disable !== undefined) return 'disabled';
  if ((fresh & NOTICES.halfway) > 0) return 'halfway';
  if ((fresh & NOTICES.failed) > 0) return 'failed';
  return (fresh & NOTICES.failing) > 0 ? 'failing' : undefined;
}
