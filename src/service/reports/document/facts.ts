/** What a value applies to: a period or an instant, and dimensions. */
export interface XbrlContext {
  readonly id: string;
  /** A CVR number or an LEI; empty if the document does not say. */
  readonly entity: string;
  /** First day, YYYY-MM-DD; null for an instant. */
  readonly start: string | null;
  /** Last day of the period, or the instant; null if unstated or unlimited. */
  readonly end: string | null;
  /** By dimension, such as `cmn:ConsolidatedSoloDimension`: the member's name, or the text of a typed member. */
  readonly dimensions: Readonly<Record<string, string>>;
}

export interface XbrlFact {
  readonly concept: string;
  readonly context: XbrlContext;
  /** `DKK`, `pure`, …; null for a text. */
  readonly unit: string | null;
  /** As stated; a number of an inline document is a plain decimal with scale and sign applied. */
  readonly value: string;
  /** Accurate digits after the point, -3 for thousands; null if exact or unstated. */
  readonly decimals: number | null;
  readonly lang: string | null;
  /** The report of an inline document that has the fact; empty for the default one. */
  readonly target: string;
}

/** The facts of a document by element name, in the order of the document. */
export type Facts = ReadonlyMap<string, readonly XbrlFact[]>;

/** Whether to keep a fact, by its name. */
export type WantedFacts = (concept: string) => boolean;

/** The document can never be read. The message is for people. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
}

/** Names elements independently of a document's prefixes: `fsa:Assets`, `ifrs-full:Assets`. */
export type Namer = (uri: string, local: string) => string;

/** The names of one document. It declares few namespaces, so each is parsed once. */
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

/** The IFRS namespaces contain a date, as `http://xbrl.ifrs.org/taxonomy/2014-03-05/ifrs-full`. */
function prefixOf(uri: string): string {
  if (uri.endsWith('ifrs-full')) return 'ifrs-full';
  if (uri.includes('ifrs-dk')) return 'ifrs-dk';
  return DANISH.exec(uri)?.[1] ?? `{${uri}}`;
}
