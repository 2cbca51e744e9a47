/**
 * Reads an XML document, and yields the thread regularly. Obeys no declarations, fetches nothing, and limits the cost
 * of a document.
 */
import { setImmediate } from 'node:timers/promises';
import { SaxesParser, type SaxesTagNS } from 'saxes';
import { decoderFor } from './decode.ts';
import { DocumentError } from './facts.ts';

export type Tag = SaxesTagNS;

export interface XmlReader {
  open(tag: Tag): void;
  text(text: string): void;
  close(tag: Tag): void;
}

/** The namespace of a prefix at the current position. */
export type ResolvePrefix = (prefix: string) => string | undefined;

/** Bytes between two readings of the clock, about 2 ms of parsing. */
const CHUNK = 64 * 1024;
/** Ms before yielding the thread. */
const TURN = 8;
const MAX_DEPTH = 256;

export interface XmlOptions {
  /** The encoding of a document that names none; UTF-8 by default. */
  readonly charset?: string;
  /** Whether to keep an undeclared entity as text, such as `&aelig;` in careless feeds. */
  readonly allowsUnknownEntities?: boolean;
}

/**
 * Passes a document to a reader. Throws {@link DocumentError} if it is malformed, nested too deep, or declares
 * entities; throws the signal's reason if it aborts.
 */
export async function readXml(
  bytes: Uint8Array,
  start: (resolve: ResolvePrefix) => XmlReader,
  signal?: AbortSignal,
  { charset, allowsUnknownEntities = false }: XmlOptions = {},
): Promise<void> {
  const parser = new SaxesParser({ xmlns: true, position: false });
  const reader = start((prefix) => parser.resolve(prefix));
  let depth = 0;
  parser.on('opentag', (tag) => {
    depth += 1;
    if (depth > MAX_DEPTH) throw new DocumentError(`is nested deeper than ${MAX_DEPTH} elements`);
    reader.open(tag);
  });
  parser.on('closetag', (tag) => {
    depth -= 1;
    reader.close(tag);
  });
  parser.on('text', (text) => reader.text(text));
  parser.on('cdata', (text) => reader.text(text));
  parser.on('doctype', refuseDeclarations);
  parser.on('error', (error) => {
    if (allowsUnknownEntities && error.message.includes('undefined entity')) return;
    throw new DocumentError(`is not well-formed: ${error.message}`);
  });
  // XHTML's document type declares `nbsp`. Some writers use it, but the parser does not read the type.
  parser.ENTITIES['nbsp'] = '\u00A0';

  const decoder = decoderFor(bytes, charset);
  let turned = performance.now();
  for (let at = 0; at < bytes.length; at += CHUNK) {
    parser.write(decoder.decode(bytes.subarray(at, at + CHUNK), { stream: true }));
    if (performance.now() - turned < TURN) continue;
    await setImmediate();
    signal?.throwIfAborted();
    turned = performance.now();
  }
  parser.write(decoder.decode());
  parser.close();
}

/** An XHTML document names its type; a document that declares entities is an attack or a mistake. */
function refuseDeclarations(doctype: string): void {
  if (/\[|<!/.test(doctype)) throw new DocumentError('declares entities or elements of its own, which is not allowed');
}
