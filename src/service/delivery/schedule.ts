/** Seconds before each attempt, including the first. */
export const SCHEDULE: readonly number[] = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

const LONGEST_MS = 24 * 3_600_000;

export type AttemptOutcome =
  | { readonly kind: 'done'; readonly disable: boolean }
  /** `abort`: no further attempt. `overloaded`: the receiver wants fewer concurrent posts. */
  | { readonly kind: 'failed'; readonly abort: boolean; readonly disable: boolean; readonly overloaded: boolean };

/**
 * Classifies an answer: 200 to 299 is success, 410 disables the webhook, everything else fails, including redirects.
 * Obeys `webhook-delivery: disable` and `abort-message` in an answer, as Svix does
 * (https://docs.svix.com/receiving/using-app-portal/disable-webhook-endpoint).
 */
export function outcomeOf(status: number, headers: Readonly<Record<string, string>> = {}): AttemptOutcome {
  const asked = headers['webhook-delivery']?.trim().toLowerCase();
  const disable = status === 410 || asked === 'disable';
  if (status >= 200 && status < 300) return { kind: 'done', disable };
  return { kind: 'failed', abort: asked === 'abort-message', disable, overloaded: status === 429 || status === 503 };
}

export const firstWait = (schedule: readonly number[] = SCHEDULE): number => (schedule[0] ?? 0) * 1_000;

/**
 * The wait in ms after `attempts` failures (1 or more); undefined at the end of the schedule. Adds up to a fifth at
 * random. The receiver can ask for a longer wait, up to 24 hours.
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
