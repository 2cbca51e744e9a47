/** Properties that the CRM refused, and those not written because of them. Pure. */

import { TOGETHER } from './group.ts';
import type { Planned } from './planned.ts';

export interface PropertyRefusal {
  /** The CRM's words; ours if {@link waitsFor} is set. */
  readonly reason: string;
  /** The refused property that this one belongs with. */
  readonly waitsFor?: string;
}

export type PropertyRefusals = Readonly<Record<string, PropertyRefusal>>;

export const refusalsOf = (reasons: Readonly<Record<string, string>>): PropertyRefusals =>
  Object.fromEntries(Object.entries(reasons).map(([property, reason]) => [property, { reason }]));

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

/** A person sees only the refused property. */
export const waiting = (planned: Planned, { reason }: PropertyRefusal): Planned => ({
  ...planned,
  action: 'skip',
  rule: TOGETHER,
  detail: reason,
});
