/**
 * Decides which source leads in which part of a company, if several fill the store. Documents of one origin follow each
 * other; of two origins, the one that is configured first leads. Pure.
 */
import { ALL_FAMILIES, type Family, partsOf } from '../../document/families.ts';
import { DATAFORDELER_FAMILIES } from '../../source/datafordeler/families.ts';
import type { Origin } from '../../source/source.ts';

const FAMILIES_OF: Readonly<Record<Origin, readonly Family[]>> = {
  cvr: ALL_FAMILIES,
  datafordeler: DATAFORDELER_FAMILIES,
};

const PARTS_OF: Readonly<Record<Origin, ReadonlySet<string>>> = {
  cvr: partsOf(FAMILIES_OF.cvr),
  datafordeler: partsOf(FAMILIES_OF.datafordeler),
};

export const familiesOf = (origin: Origin): readonly Family[] => FAMILIES_OF[origin];

export const partsFrom = (origin: Origin): ReadonlySet<string> => PARTS_OF[origin];

const isOrigin = (name: string): name is Origin => Object.hasOwn(FAMILIES_OF, name);

export const readOrigins = (text: string): readonly Origin[] => text.split(' ').filter(isOrigin);

/** The parts that an origin does not lead, because an earlier one of the list does. */
export const ledByOthers = (origins: readonly Origin[], origin: Origin): ReadonlySet<string> => {
  const at = origins.indexOf(origin);
  const before = at === -1 ? origins : origins.slice(0, at);
  return new Set(before.flatMap((each) => [...PARTS_OF[each]]));
};

/** The parts that an origin takes over when it takes the lead. */
export const takenFrom = (origins: readonly Origin[], origin: Origin): ReadonlySet<string> =>
  ledByOthers(origins, origin).intersection(PARTS_OF[origin]);

/** The origins after a document of one of them, without an origin that leads no part. */
export const originsWith = (
  origins: readonly Origin[],
  origin: Origin,
  leads: boolean,
): readonly [Origin, ...Origin[]] => {
  const others = origins.filter((each) => each !== origin);
  const [first = origin, ...rest] = leads
    ? [origin, ...others]
    : [...origins, ...(origins.includes(origin) ? [] : [origin])];
  const kept: [Origin, ...Origin[]] = [first];
  const led = new Set(PARTS_OF[first]);
  for (const each of rest) {
    if (PARTS_OF[each].isSubsetOf(led)) continue;
    kept.push(each);
    for (const part of PARTS_OF[each]) led.add(part);
  }
  return kept;
};

/**
 * How much later than the stored document another configured source's must be loaded to take the lead. Sources load at
 * their own pace, and an older state would repeat known changes.
 */
const TAKE_OVER_AFTER_MS = 3_600_000;

/** Whether a document of an origin takes over what another one leads. `order`: the configured origins. */
export const takesLead = (
  { lead, loadedAt }: { readonly lead: Origin; readonly loadedAt: string },
  document: { readonly origin: Origin; readonly loadedAt: string },
  order: readonly Origin[],
): boolean => {
  const rank = (origin: Origin): number => (order.includes(origin) ? order.indexOf(origin) : order.length);
  // A source that is no longer configured sends no more changes: what the other one loads meanwhile would be lost.
  const wait = order.includes(lead) ? TAKE_OVER_AFTER_MS : 0;
  return rank(document.origin) < rank(lead) && Date.parse(document.loadedAt) - Date.parse(loadedAt) >= wait;
};
