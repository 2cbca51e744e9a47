/** Reads XBRL instances: the form in which Danish companies have filed since 2012. */
import { createConceptNames, type Facts, type WantedFacts } from './facts.ts';
import { collect, joinFacts, type StatedFact } from './join.ts';
import { attribute, createResources } from './resources.ts';
import type { ResolvePrefix, Tag, XmlReader } from './xml.ts';

export const MAX_TEXT = 64 * 1024;

export interface FactReader extends XmlReader {
  /** Call it after the end of the document. */
  facts(): Facts;
}

export function createXbrlReader(resolve: ResolvePrefix, isWanted: WantedFacts): FactReader {
  const name = createConceptNames();
  const resources = createResources(resolve, name);
  const stated: StatedFact[] = [];
  let inResource = 0;
  /** The open fact, and the depth below it. */
  let fact: StatedFact | undefined;
  let below = 0;

  return {
    open(tag: Tag) {
      if (fact !== undefined) {
        below += 1;
      } else if (resources.open(tag)) {
        inResource += 1;
      } else {
        const contextId = attribute(tag, 'contextRef');
        if (contextId === undefined) return;
        const concept = name(tag.uri, tag.local);
        if (!isWanted(concept) || isNil(tag)) return;
        fact = {
          concept,
          contextId,
          unitId: attribute(tag, 'unitRef'),
          decimals: attribute(tag, 'decimals'),
          lang: attribute(tag, 'xml:lang'),
          target: undefined,
          value: '',
        };
        below = 0;
      }
    },
    text(text) {
      if (fact !== undefined) {
        fact.value += text.slice(0, MAX_TEXT - fact.value.length);
      } else if (inResource > 0) {
        resources.text(text);
      }
    },
    close(tag) {
      if (fact !== undefined) {
        if (below === 0) {
          collect(stated, fact);
          fact = undefined;
        }
        below -= 1;
      } else if (inResource > 0) {
        resources.close(tag);
        inResource -= 1;
      }
    },
    facts: () => joinFacts(stated, resources),
  };
}

/** `xsi:nil`, with any prefix. */
export function isNil(tag: Tag): boolean {
  for (const name in tag.attributes) {
    const attr = tag.attributes[name];
    if (attr?.local === 'nil' && attr.uri.endsWith('/XMLSchema-instance')) return /^\s*(true|1)\s*$/.test(attr.value);
  }
  return false;
}
