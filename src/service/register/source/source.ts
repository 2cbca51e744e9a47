/** A source of register documents: where the watcher reads, one page after the other. */
import { hash } from 'node:crypto';
import { isJsonObject } from '../../../protocol/text/json.ts';
import type { Family } from '../document/families.ts';

/** A text that should have been a document and is none. */
export interface UnreadableDocument {
  /** The number of the document where it is known, else where it was found. */
  readonly where: string;
  readonly reason: string;
  /** Its beginning. */
  readonly text: string;
}

export interface SourcePage {
  /**
   * Documents as the register serves them, `{ Vrvirksomhed }` and the like, in the order they were loaded there. A source
   * may parse each only when it is reached, and throws {@link SourceError} where it cannot be parsed.
   */
  readonly documents: Iterable<unknown>;
  /** Where the next page begins; kept in the same transaction as what the page brought. */
  readonly cursor: string;
  /** Whether more is known to wait: the next page is then asked for at once. */
  readonly more: boolean;
  /** What was passed over because no program can read it. */
  readonly broken?: readonly UnreadableDocument[];
  /** What of the source cannot be read now, and why, while the rest goes on. */
  readonly trouble?: string;
}

/** A part of a source that is read by itself. */
export interface SourcePart {
  /** When it was last read, ms since 1970; 0 is never. */
  readonly readAt: number;
  /** Everything was read that the register loaded before this time. */
  readonly loadedUntil: number;
  /** Whether more is known to wait. */
  readonly more: boolean;
  /** While a walk goes on: everything is read that was loaded before this time. */
  readonly walkedTo?: number;
}

/**
 * Where register documents come from. A document may come more than once, and late: the watcher tells by its content
 * and its time of loading. None may be passed over.
 */
export interface RegisterSource {
  /** Names its cursor and its lane. */
  readonly name: string;
  /** What it speaks for: of other families its documents say nothing, whatever they hold. */
  readonly families: readonly Family[];
  /**
   * The page after the cursor, from the beginning where there is none, or where the cursor is not one of its own.
   * Throws {@link SourceError} where the source cannot be read now; the same cursor is then asked for again.
   */
  page(cursor: string | undefined, signal: AbortSignal): Promise<SourcePage>;
  /**
   * The documents of some companies, by CVR number, a few dozen at a time; what the source does not know is left out.
   * Throws as `page` does. Where a source cannot, a company is known once it comes in a page.
   */
  find?(numbers: readonly string[], signal: AbortSignal): Promise<readonly unknown[]>;
  /** How many documents each part of the source holds, by the names of `parts`. Throws as `page` does. */
  count?(signal: AbortSignal): Promise<Readonly<Record<string, number>>>;
  /** A cursor from which all is read once more, beside what is new. */
  sweep?(cursor: string): string;
  /** How far each part of the source was read, by name, as a cursor tells. */
  parts?(cursor: string): Readonly<Record<string, SourcePart>>;
  close?(): Promise<void>;
}

/** The source cannot be read now. The message says what to do where a person can do something. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
  /** How long the source asks to be left alone, in ms. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: { readonly retryAfterMs?: number; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs;
  }
}

const texts = new WeakMap<object, string | Buffer>();

/** Remembers the text that a document was parsed from, or its bytes, as long as there is the document. */
export function withText(document: unknown, text: string | Buffer): unknown {
  if (isJsonObject(document)) texts.set(document, text);
  return document;
}

const knownText = (document: unknown): string | Buffer =>
  (isJsonObject(document) ? texts.get(document) : undefined) ?? JSON.stringify(document) ?? '';

/** The text of a document: what it was parsed from where that is known. To write it anew costs as much as to parse it. */
export const textOf = (document: unknown): string => knownText(document).toString();

const digests = new WeakMap<object, string>();

/** Remembers the digest that a document was kept under: without the erased whom it named it has another text. */
export function withDigest(document: unknown, digest: string): unknown {
  if (isJsonObject(document)) digests.set(document, digest);
  return document;
}

/** Tells a document from its other versions. */
export const digestOf = (document: unknown): string =>
  (isJsonObject(document) ? digests.get(document) : undefined) ?? hash('sha256', knownText(document), 'base64url');

/** How much of a text that cannot be read is shown to a person. */
const SHOWN = 2_000;

export const brokenText = (where: string, reason: string, text: string): UnreadableDocument => ({
  where,
  reason,
  text: text.slice(0, SHOWN),
});

/** The documents in what a file or an answer holds: one document, a list of them, or an Elasticsearch answer with hits. */
export function documentsIn(json: unknown): readonly unknown[] {
  if (Array.isArray(json)) return json.map(sourceOf);
  const { hits } = isJsonObject(json) ? json : {};
  if (isJsonObject(hits) && Array.isArray(hits['hits'])) return hits['hits'].map(sourceOf);
  return [sourceOf(json)];
}

const sourceOf = (hit: unknown): unknown => (isJsonObject(hit) && '_source' in hit ? hit['_source'] : hit);
