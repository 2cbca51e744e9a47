/** What a report's document states, whichever form it has. */

/** What a value holds for: a period or an instant, and the dimensions it is broken down by. */
export interface XbrlContext {
  readonly id: string;
  /** Whom it is about: a CVR number, an LEI; empty if the document does not say. */
  readonly entity: string;
  /** First day, YYYY-MM-DD; null for an instant. */
  readonly start: string | null;
  /** Last day of the period, or the instant; null where the document does not say, or says for ever. */
  readonly end: string | null;
  /** By dimension, `cmn:ConsolidatedSoloDimension`: the member's name, or the text of a typed member. */
  readonly dimensions: Readonly<Record<string, string>>;
}

/** One stated value. */
export interface XbrlFact {
  readonly concept: string;
  readonly context: XbrlContext;
  /** `DKK`, `pure`, …; null for a text. */
  readonly unit: string | null;
  /** As stated; in a number of an inline document scale and sign are applied and it is a plain decimal. */
  readonly value: string;
  /** Digits after the point that are accurate, -3 for thousands; null where exact or not stated. */
  readonly decimals: number | null;
  /** Language the fact itself states. */
  readonly lang: string | null;
  /** Which report of an inline document it belongs to; empty for the default one. */
  readonly target: string;
}

/** The facts of a document by name of their element, in the order of the document. */
export type Facts = ReadonlyMap<string, readonly XbrlFact[]>;

/** Tells by its name whether a fact is worth keeping. */
export type WantedFacts = (concept: string) => boolean;

/** A document that cannot be read, and will not be readable later. The message is for people. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
}

/** Names elements without regard to the prefix a document happens to use: `fsa:Assets`, `ifrs-full:Assets`. */
export type Namer = (uri: string, local: string) => string;

/** Names of one document: it declares few namespaces, and each is looked at once. */
export function createConceptNames(): Namer {
  const prefixes = new Map<string, string>();
  return (uri, local) => {
    let prefix = prefixes.get(uri);
    if (prefix === undefined) {
      prefix = prefixOf(uri);
      prefixes.set(uri, prefix);
    }
    return `${prefix}:${local}`;
  };
}

const DANISH = /^https?:\/\/xbrl\.dcca\.dk\/([a-z]+)$/;

/** The versions of the IFRS namespaces differ by date, as `http://xbrl.ifrs.org/taxonomy/2014-03-05/ifrs-full`. */
function prefixOf(uri: string): string {
  if (uri.endsWith('ifrs-full')) return 'ifrs-full';
  if (uri.includes('ifrs-dk')) return 'ifrs-dk';
  return DANISH.exec(uri)?.[1] ?? `{${uri}}`;
}
