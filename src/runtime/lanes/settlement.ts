/** What the end of a run makes of a lane. */

/** The right to work on one lane until its lease ends. */
export interface Claim {
  readonly queue: string;
  readonly key: string;
  readonly fence: number;
  /** How often the lane had been marked when it was claimed. */
  readonly marks: number;
  /** Failures since the last success. */
  readonly attempts: number;
  /** Since when the lane is behind without a success in between. */
  readonly since: number;
  /** Claims before this one that were never settled: their process died, or stood still beyond its lease. */
  readonly unended: number;
}

/** What becomes of a lane after it was worked on. A mark that came meanwhile is never lost, whichever it is. */
export type Settlement =
  /** Up to date: the lane ends, or runs again where it was marked meanwhile. */
  | { readonly kind: 'done' }
  /** Later. `free` counts no failure; `fresh` counts as a success, for lanes that run periodically. */
  | {
      readonly kind: 'again';
      readonly at: number;
      readonly error?: string;
      readonly free?: true;
      readonly fresh?: true;
    }
  /** Set aside at `at` until it is marked or un-parked; tried again at once where it was marked meanwhile. */
  | { readonly kind: 'parked'; readonly at: number; readonly error: string };

/** A lane that goes on after a settlement. */
export interface Next {
  readonly key: string;
  readonly due: number | null;
  readonly attempts: number;
  readonly since: number;
  readonly error: string | null;
  readonly parked: number | null;
}

/** The lane after a settlement, undefined where it ends. `marked` is the due time of a mark that came meanwhile, if one did. */
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
      // As `mark` does it: only a lane in back-off keeps its time.
      const due = count > 0 || marked === undefined ? at : Math.min(at, marked);
      return { key, due, attempts: count, since: fresh ? due : since, error, parked: null };
    }
  }
}
