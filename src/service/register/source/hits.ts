/**
 * Reads the hits of an answer. Documents stay bytes until they are read one at a time: a parsed page takes several
 * times the memory, and the watcher compares bytes to recognise a known document.
 */
import { isJsonObject, type JsonObject } from '../../../protocol/text/json.ts';
import { SourceError, withText } from './source.ts';

export interface AnswerHit {
  /** The hit without its document, if that is still bytes. */
  readonly head: unknown;
  readonly hasDocument: boolean;
  /** Reads the document. Throws {@link SourceError} if its JSON is broken. */
  readonly document: () => unknown;
}

// In JSON a bare quotation mark ends a string, so these cannot occur inside one.
const HIT = '{"_index":';
const SOURCE = '"_source":';
const SORT = ',"sort":[';
const BRACE = 0x7b;

function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new SourceError('the register answered with JSON that is cut or broken', { cause: error });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads an answer. Throws {@link SourceError} if it is cut or broken. */
export function readAnswer(body: Buffer): { readonly json: unknown; readonly hits: readonly AnswerHit[] | undefined } {
  const { outline, documents } = cut(body);
  const json = documents.length === 0 ? undefined : parsed(outline);
  const hits = hitsOf(json);
  // Another layout is possible: each document must come from the place that holds its number.
  const places = hits?.flatMap((hit) => (isJsonObject(hit) && '_source' in hit ? [hit['_source']] : []));
  if (places?.length !== documents.length || places.some((place, at) => place !== at)) return readWhole(body);
  return { json, hits: hits?.map((head) => textHit(head, documents)) };
}

function readWhole(body: Buffer): ReturnType<typeof readAnswer> {
  const json = parseAnswer(body.toString());
  return { json, hits: hitsOf(json)?.map(parsedHit) };
}

const hitsOf = (json: unknown): readonly unknown[] | undefined => {
  const { hits } = isJsonObject(json) ? json : {};
  return isJsonObject(hits) && Array.isArray(hits['hits']) ? hits['hits'] : undefined;
};

const sourceOf = (hit: unknown): unknown => (isJsonObject(hit) ? hit['_source'] : undefined);

const parsedHit = (hit: unknown): AnswerHit => ({
  head: hit,
  hasDocument: isJsonObject(sourceOf(hit)),
  document: () => sourceOf(hit),
});

function textHit(hit: unknown, documents: readonly Buffer[]): AnswerHit {
  const bytes = documents[Number(sourceOf(hit))];
  if (bytes === undefined) return parsedHit(hit);
  const { _source: _, ...head }: JsonObject = isJsonObject(hit) ? hit : {};
  return { head, hasDocument: bytes[0] === BRACE, document: () => withText(parseAnswer(bytes.toString()), bytes) };
}

/** Cuts the documents out of an answer and leaves their numbers in their places. */
function cut(body: Buffer): { readonly outline: string; readonly documents: readonly Buffer[] } {
  const documents: Buffer[] = [];
  let outline = '';
  let done = 0;
  for (let hit = body.indexOf(HIT); hit !== -1; ) {
    const next = body.indexOf(HIT, hit + HIT.length);
    const end = next === -1 ? body.length : next;
    const from = body.indexOf(SOURCE, hit) + SOURCE.length;
    const to = body.lastIndexOf(SORT, end);
    if (from >= SOURCE.length && from < to) {
      outline += `${body.toString('utf8', done, from)}${documents.length}`;
      documents.push(body.subarray(from, to));
      done = to;
    }
    hit = next;
  }
  return { outline: outline + body.toString('utf8', done), documents };
}
