import { hash } from 'node:crypto';
import { isJsonObject } from '../../../protocol/text/json.ts';
import type { Family } from '../document/families.ts';

/** Where documents come from. Sources of one origin state the same facts in the same words. */
export type Origin = 'cvr' | 'datafordeler';

export interface UnreadableDocument {
  /** The number of the document if known, else its place. */
  readonly where: string;
  readonly reason: string;
  readonly text: string;
}

export interface SourcePage {
  /**
   * Documents as the register serves them, `{ Vrvirksomhed }` and the like, in the order of their loading. A source may
   * parse each when it is reached, and then throws {@link SourceError} for broken JSON.
   */
  readonly documents: Iterable<unknown>;
  /** Where the next page begins; stored in the same transaction as the page. */
  readonly cursor: string;
  /** Whether to request the next page at once. */
  readonly more: boolean;
  /** Documents that were skipped as unreadable. */
  readonly broken?: readonly UnreadableDocument[];
  /** Entity ids of companies that were only partly served, to ask for later. */
  readonly again?: readonly string[];
  /** Why a part of the source cannot be read now. */
  readonly trouble?: string;
}

export interface SourcePart {
  /** 0: never. */
  readonly readAt: number;
  readonly loadedUntil: number;
  readonly more: boolean;
  /** During a walk: everything loaded before this time was read. */
  readonly walkedTo?: number;
}

/**
 * A source of register documents, which the watcher reads page by page. A document may come late or more than once: the
 * watcher recognises it by its content and its time of loading. A source must not skip any.
 */
export interface RegisterSource {
  readonly name: string;
  /** Several sources may have the same origin. */
  readonly origin: Origin;
  /** The families that it covers; its documents say nothing about others. */
  readonly families: readonly Family[];
  /**
   * The page after the cursor; the first page if the cursor is absent or of another source. Throws {@link SourceError}
   * if the source cannot be read now; the same cursor is then requested again.
   */
  page(cursor: string | undefined, signal: AbortSignal): Promise<SourcePage>;
  /**
   * The documents of some companies by CVR number, a few dozen at a time, without unknown ones. `cursor`: that of the
   * last stored page. Throws as `page` does. Without `find`, a company is known only when it comes in a page.
   */
  find?(
    numbers: readonly string[],
    signal: AbortSignal,
    cursor?: string,
  ): Promise<Pick<SourcePage, 'documents' | 'again'>>;
  /** How many documents each part of the source holds, by the names of `parts`. Throws as `page` does. */
  count?(signal: AbortSignal): Promise<Readonly<Record<string, number>>>;
  /** A cursor that rereads everything, in addition to what is new. */
  sweep?(cursor: string): string;
  /** How far a cursor has read each part of the source. */
  parts?(cursor: string): Readonly<Record<string, SourcePart>>;
  /** Requests every part once, and returns what it cannot read now. Throws as `page` does. */
  probe?(signal: AbortSignal): Promise<readonly string[]>;
  close?(): Promise<void>;
}

/** The source cannot be read now. The message says what the operator can do. */
export class SourceError extends Error {
  override readonly name = 'SourceError';
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: { readonly retryAfterMs?: number | undefined; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs;
  }
}

const texts = new WeakMap<object, string | Buffer>();

/** Remembers the text or bytes of a parsed document. */
export function withText(document: unknown, text: string | Buffer): unknown {
  if (isJsonObject(document)) texts.set(document, text);
  return document;
}

const knownText = (document: unknown): string | Buffer =>
  (isJsonObject(document) ? texts.get(document) : undefined) ?? JSON.stringify(document) ?? '';

/** The text of a document: the original if known, because serialising is as expensive as parsing. */
export const textOf = (document: unknown): string => knownText(document).toString();

const digests = new WeakMap<object, string>();

/** Remembers the digest of a stored document, whose text changes if an erasure removes a name from it. */
export function withDigest(document: unknown, digest: string): unknown {
  if (isJsonObject(document)) digests.set(document, digest);
  return document;
}

/** A digest that distinguishes the versions of a document. */
export const digestOf = (document: unknown): string =>
  (isJsonObject(document) ? digests.get(document) : undefined) ?? hash('sha256', knownText(document), 'base64url');

const SHOWN = 2_000;

export const brokenText = (where: string, reason: string, text: string): UnreadableDocument => ({
  where,
  reason,
  text: text.slice(0, SHOWN),
});

/** The documents in a file or an answer: one document, a list of them, or an Elasticsearch answer with hits. */
export function documentsIn(json: unknown): readonly unknown[] {
  if (Array.isArray(json)) return json.map(sourceOf);
  const { hits } = isJsonObject(json) ? json : {};
  if (isJsonObject(hits) && Array.isArray(hits['hits'])) return hits['hits'].map(sourceOf);
  return [sourceOf(json)];
}

const sourceOf = (hit: unknown): unknown => (isJsonObject(hit) && '_source' in hit ? hit['_source'] : hit);
