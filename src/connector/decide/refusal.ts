/** refusal: what the CRM did not take of a patch, and what was not written because of that. Pure. */

import { TOGETHER } from './group.ts';
import type { Planned } from './planned.ts';

/** Why a property of a patch was not written. */
export interface PropertyRefusal {
  /** The CRM's own words, or ours where {@link waitsFor} is set. */
  readonly reason: string;
  /** The refused property that this one is written together with: the CRM said nothing of this one. */
  readonly waitsFor?: string;
}

/** By property. */
export type PropertyRefusals = Readonly<Record<string, PropertyRefusal>>;

/** What the CRM refused, as it says it. */
export const refusalsOf = (reasons: Readonly<Record<string, string>>): PropertyRefusals =>
  Object.fromEntries(Object.entries(reasons).map(([property, reason]) => [property, { reason }]));

/** The refusals, with the properties that may not be written without those. */
export function withLeftBehind(
  planned: readonly Pick<Planned, 'property' | 'needs'>[],
  refused: PropertyRefusals,
): PropertyRefusals {
  const out: Record<string, PropertyRefusal> = { ...refused };
  for (let before = -1; Object.keys(out).length !== before; ) {
    before = Object.keys(out).length;
    for (const { property, needs = [] } of planned) {
      const waitsFor = Object.hasOwn(out, property) ? undefined : needs.find((name) => Object.hasOwn(out, name));
      if (waitsFor === undefined) continue;
      const reason = `the CRM refused ${waitsFor}, and the two are written together or not at all`;
      out[property] = { reason, waitsFor };
    }
  }
  return out;
}

/** The decision about a property that waits: only the refused one is for a person to see. */
export const waiting = (planned: Planned, { reason }: PropertyRefusal): Planned => ({
  ...planned,
  action: 'skip',
  rule: TOGETHER,
  detail: reason,
});
