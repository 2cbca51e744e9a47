/**
 * A pass over an XML document that gives way to others: no declarations are obeyed, nothing outside is fetched, and what
 * a document may cost is bounded.
 */
import { setImmediate } from 'node:timers/promises';
import { SaxesParser, type SaxesTagNS } from 'saxes';
import { decoderFor } from './decode.ts';
import { DocumentError } from './facts.ts';

export type Tag = SaxesTagNS;

/** What is told of a document, in its order. */
export interface XmlReader {
  open(tag: Tag): void;
  text(text: string): void;
  close(tag: Tag): void;
}

/** The namespace a prefix stands for at the place that is being read. */
export type ResolvePrefix = (prefix: string) => string | undefined;

/** Bytes between two looks at the clock, about 2 ms of parsing. */
const CHUNK = 64 * 1024;
/** Ms for which others wait. */
const TURN = 8;
const MAX_DEPTH = 256;

export interface XmlOptions {
  /** The encoding of a document that names none; UTF-8 if absent. */
  readonly charset?: string;
  /** Whether an entity that nobody declares is text, as `&aelig;` in the feeds of careless writers. */
  readonly allowsUnknownEntities?: boolean;
}

/**
 * Shows a document to a reader. Throws {@link DocumentError} where it is not well-formed, is nested too deep, or declares entities;
 * the signal's reason where it aborts.
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
  // What XHTML's document type declares and some writers use; the type itself is not read.
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

/** An XHTML document names its type; what declares entities of its own is an attack or a mistake. */
function refuseDeclarations(doctype: string): void {
  if (/\[|<!/.test(doctype)) throw new DocumentError('declares entities or elements of its own, which is not allowed');
}
