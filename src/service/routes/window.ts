/** A limit of calls in a fixed window, counted in this process. */

const WINDOW_MS = 60_000;

/**
 * Counts a call of somebody, and returns the seconds after which to come again where there were more than `limit` in the
 * minute that began with the first of them; undefined where the call may be made. A clock that was set back begins anew.
 */
export function createWindow(limit: number, now: () => number): (who: string) => number | undefined {
  const windows = new Map<string, { readonly from: number; calls: number }>();
  return (who) => {
    const at = now();
    const current = windows.get(who);
    const isOver = current === undefined || at >= current.from + WINDOW_MS || at < current.from;
    const window = isOver ? { from: at, calls: 0 } : current;
    windows.set(who, window);
    window.calls += 1;
    if (window.calls <= limit) return undefined;
    return Math.max(1, Math.ceil((window.from + WINDOW_MS - at) / 1_000));
  };
}
