/** Shows a line of a configuration file with a caret, and with `***` for everything that may be a secret. */
import Type, { type TSchema } from 'typebox';
import { isMap, isNode, isScalar, isSeq, type Pair } from 'yaml';
import { MASK } from '../protocol/text/mask.ts';
import { keyText } from './place.ts';
import { redact, secrecyOf } from './redact.ts';
import { childrenOf, variantsOf } from './schema/lookup.ts';

/** A part of the text, and whether it may be shown. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly isPublic: boolean;
}

/**
 * The keys and values of a document. A value is public if its place is known and not secret, or if it consists of
 * references. `entryOf` gives the schema of a connection by its name.
 */
export function spansOf(contents: unknown, root: TSchema, entryOf: (name: string) => TSchema | undefined): Span[] {
  const spans: Span[] = [];
  const add = (node: unknown, isPublic: boolean): void => {
    const range = isNode(node) ? node.range : undefined;
    if (range) spans.push({ from: range[0], to: range[1], isPublic });
  };
  const walkMap = (pairs: readonly Pair[], schemas: readonly TSchema[], path: string): void => {
    const isSection = schemas.some((schema) => Type.IsObject(schema) || Type.IsRecord(schema));
    for (const pair of pairs) {
      const name = keyText(pair);
      const entry = path === '.connector.providers' ? entryOf(name) : undefined;
      const own = entry === undefined ? schemas.flatMap((schema) => childrenOf(schema, name)) : [entry];
      add(pair.key, isSection);
      walk(pair.value, name.endsWith('_FILE') ? [Type.String()] : own.flatMap(variantsOf), `${path}.${name}`);
    }
  };
  const walk = (node: unknown, schemas: readonly TSchema[], path: string): void => {
    if (isScalar(node)) add(node, isPublicText(node.value, schemas));
    if (isSeq(node)) for (const item of node.items) walk(item, schemas.flatMap(itemsOf), `${path}[]`);
    if (isMap(node)) walkMap(node.items, schemas, path);
  };
  walk(contents, [root], '');
  return spans;
}

const itemsOf = (schema: TSchema): readonly TSchema[] => (Type.IsArray(schema) ? variantsOf(schema.items) : []);

const REFERENCES = /^(?:\$\{\w+\})+$/u;

function isPublicText(value: unknown, schemas: readonly TSchema[]): boolean {
  if (typeof value === 'string' && REFERENCES.test(value)) return true;
  if (schemas.length === 0 || schemas.some((schema) => secrecyOf(schema) === true)) return false;
  if (schemas.some((schema) => secrecyOf(schema) === 'url') && /[@?]/u.test(String(value))) return false;
  // An address may hold a password, whatever its key.
  return redact(Type.Unknown(), value) === value;
}

/** The words of a text that is not valid YAML. Only `known` words and references are public. */
export const wordsOf = (text: string, known: ReadonlySet<string>): Span[] =>
  [...text.matchAll(/\$\{\w+\}|[^\s{}[\],:"'#]+/gu)].map(({ 0: word, index }) => {
    return { from: index, to: index + word.length, isPublic: known.has(word) || REFERENCES.test(word) };
  });

const STRUCTURE = /[\s{}[\],:"'?|>-]/u;
/** Longer lines, such as those of JSON without line breaks, are shown in part. */
const WIDTH = 96;

/** The line at an offset, and below it a caret. Hides text outside of all spans, such as a comment. */
export function excerpt(text: string, offset: number, line: number, spans: readonly Span[]): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const end = text.indexOf('\n', start) < 0 ? text.length : text.indexOf('\n', start);
  let shown = '';
  let caret = 0;
  for (let at = start; at < end; ) {
    const { to, isPublic, isComment } = partAt(text, at, end, spans);
    if (isComment) break;
    if (offset >= at) caret = shown.length + (isPublic ? offset - at : 0);
    shown += isPublic ? text.slice(at, to).replaceAll(/\s/gu, ' ') : MASK;
    at = to;
  }
  const from = Math.max(0, Math.min(caret - WIDTH / 2, shown.length - WIDTH));
  const cut = `${from > 0 ? '…' : ''}${shown.slice(from, from + WIDTH).trimEnd()}${from + WIDTH < shown.length ? '…' : ''}`;
  const gutter = ' '.repeat(String(line).length);
  return `${line} | ${cut}\n${gutter} | ${' '.repeat(caret - from + (from > 0 ? 1 : 0))}^`;
}

/** A part of a line that is shown or hidden as a whole. */
function partAt(text: string, at: number, end: number, spans: readonly Span[]) {
  const span = spans.find(({ from, to }) => from <= at && at < to);
  if (span !== undefined) return { to: Math.min(span.to, end), isPublic: span.isPublic, isComment: false };
  const isStructure = STRUCTURE.test(text.charAt(at));
  const rest = text.slice(at, end).search(STRUCTURE);
  const to = isStructure ? at + 1 : rest < 0 ? end : at + rest;
  return { to, isPublic: isStructure, isComment: text.charAt(at) === '#' };
}
