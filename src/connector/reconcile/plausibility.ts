/** Plausibility: finds lists that cannot be right, and what is therefore not done. Pure. */
import type { ReconcileBasis } from './differences.ts';

/** What is known of the lists, beside the lists. Links count if they are older than the lists. */
export interface KnownNumbers {
  readonly provider: string;
  /** Records that the scan saw now, and at the last reconcile that was not in doubt. */
  readonly records: { readonly now: number; readonly last: number | undefined };
  /** Active links, and those whose record was seen. */
  readonly links: { readonly all: number; readonly seen: number };
  /** Links that were made by a number, and whose record was seen; those that it speaks against now. */
  readonly numbers: { readonly all: number; readonly differ: number; readonly unreadable: string | undefined };
  /** The service's items now and last; undefined if no service is configured. */
  readonly items: { readonly now: number; readonly last: number | undefined } | undefined;
  /** Links that the service had confirmed, and those whose item was seen. */
  readonly confirmed: { readonly all: number; readonly seen: number };
  /** Items that the service would be told to drop. */
  readonly deletions: number;
}

export interface Implausibility {
  readonly basis: ReconcileBasis;
  /** What is strange, for people. */
  readonly reason: string;
}

/** Of so few a share says nothing: but for an empty list, they are looked at one by one. */
const FEW = 5;
/** So many may end at once, and a tenth of all. */
const USUAL = 20;

/** How many of `all` may change at once without a person being asked. */
const usual = (all: number): number => Math.max(USUAL, Math.ceil(all / 10));

/** Whether a list with `seen` of what is known is empty, or far smaller than it should be. */
const shrank = (known: number, seen: number): boolean =>
  known > 0 && (seen === 0 || (known >= FEW && seen < known / 2));

/** Everything that cannot be right. Nothing is concluded from it: what is missing may be missing from the list only. */
export function implausibilitiesOf(known: KnownNumbers): readonly Implausibility[] {
  return [
    implausibleRecords(known),
    implausibleNumbers(known),
    implausibleItems(known),
    implausibleDeletions(known),
  ].filter((doubt) => doubt !== undefined);
}

function implausibleRecords({ provider, records, links }: KnownNumbers): Implausibility | undefined {
  const { now, last = 0 } = records;
  if (now === 0 && links.all > 0)
    return { basis: 'records', reason: `${provider} lists no company at all, and ${links.all} are linked` };
  if (shrank(last, now))
    return { basis: 'records', reason: `${provider} lists ${now} companies, and listed ${last} the last time` };
  if (links.all >= FEW && shrank(links.all, links.seen))
    return { basis: 'records', reason: `${provider} lists only ${links.seen} of the ${links.all} linked records` };
  return undefined;
}

function implausibleNumbers({ provider, numbers }: KnownNumbers): Implausibility | undefined {
  const { all, differ, unreadable } = numbers;
  if (unreadable !== undefined)
    return {
      basis: 'numbers',
      reason: `${provider} has no property ${unreadable} that these credentials can read, or its links were made by another one (cvrsync backfill ${provider} makes them by this one)`,
    };
  if (differ <= usual(all)) return undefined;
  const reason = `in ${differ} of ${all} linked records of ${provider} the CVR number is gone or another one`;
  return { basis: 'numbers', reason };
}

function implausibleItems({ provider, items, confirmed }: KnownNumbers): Implausibility | undefined {
  if (items === undefined) return undefined;
  const { now, last = 0 } = items;
  if (now === 0 && confirmed.all > 0)
    return { basis: 'items', reason: `the service lists nothing for ${provider}, and had taken ${confirmed.all}` };
  if (shrank(last, now))
    return {
      basis: 'items',
      reason: `the service lists ${now} items for ${provider}, and listed ${last} the last time`,
    };
  if (confirmed.all >= FEW && shrank(confirmed.all, confirmed.seen))
    return {
      basis: 'items',
      reason: `the service lists only ${confirmed.seen} of the ${confirmed.all} that it had taken for ${provider}`,
    };
  return undefined;
}

/** Our own table may be the one that is too short: a store that was restored, or another installation with the same key. */
function implausibleDeletions({ provider, items, deletions }: KnownNumbers): Implausibility | undefined {
  if (items === undefined || deletions <= usual(items.now)) return undefined;
  const reason = `${deletions} of the ${items.now} items that the service lists for ${provider} are wished by no link here`;
  return { basis: 'deletions', reason };
}
