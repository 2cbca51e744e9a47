/** When a webhook is tried again, and what its answer means. */

/** Seconds before each attempt, the first included. */
export const SCHEDULE: readonly number[] = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

const LONGEST_MS = 24 * 3_600_000;

/** What an answer means for its delivery and its monitor. */
export type AttemptOutcome =
  | { readonly kind: 'done'; readonly disable: boolean }
  /** `abort`: no further attempt. `crowded`: the receiver asks for less at a time. */
  | { readonly kind: 'failed'; readonly abort: boolean; readonly disable: boolean; readonly crowded: boolean };

/**
 * Classifies an answer: 200 to 299 is success, 410 means that nobody wants these any more, all else fails, redirects too.
 * `webhook-delivery: disable` and `abort-message` in an answer are obeyed, as Svix does
 * (https://docs.svix.com/receiving/using-app-portal/disable-webhook-endpoint).
 */
export function outcomeOf(status: number, headers: Readonly<Record<string, string>> = {}): AttemptOutcome {
  const asked = headers['webhook-delivery']?.trim().toLowerCase();
  const disable = status === 410 || asked === 'disable';
  if (status >= 200 && status < 300) return { kind: 'done', disable };
  return { kind: 'failed', abort: asked === 'abort-message', disable, crowded: status === 429 || status === 503 };
}

/** Ms before the first attempt. */
export const firstWait = (schedule: readonly number[] = SCHEDULE): number => (schedule[0] ?? 0) * 1_000;

/**
 * Ms to wait after `attempts` failed ones (1 or more); undefined where the schedule is at its end. Up to a fifth is added
 * at random, never taken away; what the receiver asked for makes it later too, up to 24 hours.
 */
export function nextWait(
  attempts: number,
  schedule: readonly number[],
  options: { readonly retryAfterMs?: number | undefined; readonly random?: () => number } = {},
): number | undefined {
  const seconds = schedule[attempts];
  if (seconds === undefined) return undefined;
  const base = seconds * 1_000;
  const asked = Math.min(options.retryAfterMs ?? 0, LONGEST_MS);
  const random = options.random ?? Math.random;
  return Math.max(Math.round(base * (1 + 0.2 * random())), asked);
}
