/** Counts the calls that leave for each CRM, in any window of its limits. */
import type { Window } from '../../providers/provider.ts';

/** The limits of both accounts, by host and kind of call. */
export interface Limits {
  readonly hubspot: Window;
  readonly 'hubspot search': Window;
  readonly salesforce: Window;
}

export interface CallCount {
  /** A call leaves. */
  count(host: string, path: string, at: number): void;
  /** Until then calls may leave late, which a process granted itself before it stood still or its clock changed. */
  excuse(until: number): void;
  /** What left too fast since the last time that somebody asked, as sentences. */
  takeExcess(): readonly string[];
}

export function countCalls(limits: Limits): CallCount {
  const kinds = new Map(Object.entries(limits).map(([kind, window]) => [kind, { window, times: [] as number[] }]));
  const excess = new Map<string, string>();
  let excusedUntil = 0;
  return {
    count(host, path, at) {
      // Tokens come from another place, and do not count.
      if (path.startsWith('/services/oauth2')) return;
      const kind = host === 'hubspot' && path.split('?')[0]?.endsWith('/search') === true ? 'hubspot search' : host;
      const known = kinds.get(kind);
      if (known === undefined) return;
      const { window, times } = known;
      if (at < excusedUntil) times.length = 0;
      while ((times[0] ?? at) <= at - window.perMs) times.shift();
      times.push(at);
      if (times.length > window.calls)
        excess.set(kind, `${times.length} calls to ${kind} left within ${window.perMs} ms, and ${window.calls} may`);
    },
    excuse(until) {
      excusedUntil = Math.max(excusedUntil, until);
    },
    takeExcess() {
      const found = [...excess.values()];
      excess.clear();
      return found;
    },
  };
}
