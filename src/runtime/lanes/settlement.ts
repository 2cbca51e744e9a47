/** How a run settles a lane. */

/** The right to work on one lane until its lease ends. */
export interface Claim {
  readonly queue: string;
  readonly key: string;
  readonly fence: number;
  readonly marks: number;
  readonly attempts: number;
  /** Since when the lane is behind without a success. */
  readonly since: number;
  /** Earlier claims that were never settled: their process died, or froze beyond its lease. */
  readonly unended: number;
}

/** The outcome of work on a lane. None of them loses a mark that came meanwhile. */
export type Settlement =
  /** Up to date: the lane ends, or runs again if it was marked meanwhile. */
  | { readonly kind: 'done' }
  /** Later. `free` counts no failure; `fresh` counts as a success, for periodic lanes. */
  | {
      readonly kind: 'again';
      readonly at: number;
      readonly error?: string;
      readonly free?: true;
      readonly fresh?: true;
    }
  /** Parked from `at` until somebody marks or unparks it; runs again at once if it was marked meanwhile. */
  | { readonly kind: 'parked'; readonly at: number; readonly error: string };

export interface Next {
  readonly key: string;
  readonly due: number | null;
  readonly attempts: number;
  readonly since: number;
  readonly error: string | null;
  readonly parked: number | null;
}

/** The lane after a settlement, undefined if it ends. `marked`: the due time of a mark that came meanwhile. */
export function settled(claim: Claim, settlement: Settlement, marked: number | undefined): Next | undefined {
  const { key, attempts, since } = claim;
  const anew = { key, attempts: 0, error: null, parked: null };
  switch (settlement.kind) {
    case 'done':
      return marked === undefined ? undefined : { ...anew, due: marked, since: marked };
    case 'parked':
      if (marked !== undefined) return { ...anew, due: marked, since };
      return { key, due: null, attempts: attempts + 1, since, error: settlement.error, parked: settlement.at };
    case 'again': {
      const { at, error = null, free, fresh } = settlement;
      const count = fresh ? 0 : free ? attempts : attempts + 1;
      // As in `mark`, only a lane in back-off keeps its time.
      const due = count > 0 || marked === undefined ? at : Math.min(at, marked);
      return { key, due, attempts: count, since: fresh ? due : since, error, parked: null };
    }
  }
}
