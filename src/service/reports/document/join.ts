/** Joins facts with their contexts and units, which a document may state last. */
import { DocumentError, type Facts, type XbrlFact } from './facts.ts';
import type { Resources } from './resources.ts';

export interface StatedFact {
  readonly concept: string;
  readonly contextId: string;
  readonly unitId: string | undefined;
  readonly decimals: string | undefined;
  readonly lang: string | undefined;
  readonly target: string | undefined;
  value: string;
}

const MAX_FACTS = 200_000;

/** Adds a fact. Throws {@link DocumentError} above the number of facts of any real report. */
export function collect(stated: StatedFact[], fact: StatedFact): void {
  if (stated.length >= MAX_FACTS) throw new DocumentError(`states more than ${MAX_FACTS} facts that are looked for`);
  stated.push(fact);
}

/** Drops facts whose context or unit the document does not state. */
export function joinFacts(facts: readonly StatedFact[], resources: Pick<Resources, 'contexts' | 'units'>): Facts {
  const joined = new Map<string, XbrlFact[]>();
  for (const { concept, contextId, unitId, value, ...stated } of facts) {
    const context = resources.contexts.get(contextId);
    const unit = unitId === undefined ? null : resources.units.get(unitId);
    if (context === undefined || unit === undefined) continue;
    const { decimals, lang = null, target = '' } = stated;
    const fact: XbrlFact = { concept, context, unit, value, decimals: accuracy(decimals), lang, target };
    const same = joined.get(concept);
    if (same === undefined) joined.set(concept, [fact]);
    else same.push(fact);
  }
  return joined;
}

const accuracy = (decimals: string | undefined): number | null =>
  decimals !== undefined && /^\s*[+-]?\d{1,3}\s*$/.test(decimals) ? Number(decimals) : null;
