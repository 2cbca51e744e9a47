/** A limit of what one client or person does in a minute, counted in this process. */

const WINDOW_MS = 60_000;
/** Who is known at a time: whoever was first seen longest ago is forgotten. */
const MOST_KNOWN = 10_000;

/** Counts a call of somebody. The seconds after which to come again if there were too many, else undefined. */
export type CallLimit = (who: string) => number | undefined;

/** Limits the calls of each in the minute that begins with the first of them. `now`: a clock in ms that only goes forward. */
export function createCallLimit(most: number, now: () => number = () => performance.now()): CallLimit {
  const known = new Map<string, { readonly since: number; calls: number }>();
  return (who) => {
    const at = now();
    const window = known.get(who);
    if (window !== undefined && at - window.since < WINDOW_MS) {
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
