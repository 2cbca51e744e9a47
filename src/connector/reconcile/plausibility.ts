/** Finds implausible lists, from which nothing may be concluded. Pure. */
import type { ReconcileBasis } from './differences.ts';

/** Sizes to compare the lists with. Only links older than the lists count. */
export interface KnownNumbers {
  readonly provider: string;
  /** Records of this scan, and of the last plausible reconcile. */
  readonly records: { readonly now: number; readonly last: number | undefined };
  /** Active links, and those with a record in the list. */
  readonly links: { readonly all: number; readonly seen: number };
  /** Links by number with a record in the list, and those that it contradicts now. */
  readonly numbers: { readonly all: number; readonly differ: number; readonly unreadable: string | undefined };
  readonly items: { readonly now: number; readonly last: number | undefined } | undefined;
  /** Confirmed links, and those with an item in the list. */
  readonly confirmed: { readonly all: number; readonly seen: number };
  readonly deletions: number;
}

export interface Implausibility {
  readonly basis: ReconcileBasis;
  readonly reason: string;
}

/** Too few for a share: unless the list is empty, each is checked by itself. */
const FEW = 5;
/** So many may change at once, or a tenth of all. */
const USUAL = 20;

const usual = (all: number): number => Math.max(USUAL, Math.ceil(all / 10));

const shrank = (known: number, seen: number): boolean =>
  known > 0 && (seen === 0 || (known >= FEW && seen < known / 2));

/** What is missing may be missing from the list only. */
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

/** Our own table may be too short: the store was restored, or another installation uses the same key. */
function implausibleDeletions({ provider, items, deletions }: KnownNumbers): Implausibility | undefined {
  if (items === undefined || deletions <= usual(items.now)) return undefined;
  const reason = `${deletions} of the ${items.now} items that the service lists for ${provider} have no link here`;
  return { basis: 'deletions', reason };
}
