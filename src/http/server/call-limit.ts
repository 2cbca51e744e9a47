/** Limits the calls of each client or person in a minute, counted in this process. */

const WINDOW_MS = 60_000;
/** Callers to remember; the oldest is forgotten first. */
const MOST_KNOWN = 10_000;

export type CallLimit = (who: string) => number | undefined;

/** Each caller's minute begins with its first call. A clock that was set back starts a new minute. */
export function createCallLimit(most: number, now: () => number = () => performance.now()): CallLimit {
  const known = new Map<string, { readonly since: number; calls: number }>();
  return (who) => {
    const at = now();
    const window = known.get(who);
    if (window !== undefined && at >= window.since && at - window.since < WINDOW_MS) {
      window.calls += 1;
      return window.calls <= most ? undefined : Math.ceil((window.since + WINDOW_MS - at) / 1_000);
    }
    known.delete(who);
    known.set(who, { since: at, calls: 1 });
    const oldest = known.size > MOST_KNOWN ? known.keys().next().value : undefined;
    if (oldest !== undefined) known.delete(oldest);
    return undefined;
  };
}
