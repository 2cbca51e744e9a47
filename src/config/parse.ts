import { type Document, isAlias, isMap, isNode, isScalar, parseDocument, visit, type YAMLError } from 'yaml';
import { type LocatedProblem, locateIn, type ParsedText } from './locate.ts';

type Parsed = ({ readonly ok: true } & ParsedText) | { readonly ok: false; readonly errors: readonly LocatedProblem[] };

/**
 * Parses the text of a configuration file, YAML or JSON. Codes such as `011100`, which YAML reads as numbers, stay
 * text, as does every key and every number that prints differently from how it was written. Errors quote only what
 * cannot be a secret.
 */
export function parseConfig(given: string): Parsed {
  const text = given.replace(/^\uFEFF/, '');
  const document = parseDocument(text, { merge: true, prettyErrors: false, logLevel: 'error' });
  // Later errors are mostly consequences of the first.
  const [error] = [...document.errors, ...document.warnings];
  if (error !== undefined) return refused(text, offsetOf(error, document), messageOf(error, text));
  const alias = looseAlias(document);
  if (alias !== undefined) return refused(text, alias, 'a text that begins with * must be in quotes');
  visit(document, {
    Scalar: (key, node) => {
      if (typeof node.value !== 'number' || node.source === undefined) return;
      if (key === 'key' || String(node.value) !== node.source) node.value = node.source;
    },
    Pair: (_key, pair) => {
      if (isScalar(pair.key) && typeof pair.key.value !== 'string')
        pair.key.value = String(pair.key.source ?? pair.key.value);
    },
  });
  try {
    return { ok: true, text, document, value: document.toJS({ maxAliasCount: 100 }) };
  } catch (error_) {
    const isMerge = error_ instanceof Error && error_.message.startsWith('Merge sources');
    return isMerge
      ? refused(text, badMerge(document), '<< must name a section: { } or an alias of one')
      : refused(text, 0, 'its aliases make it far larger than it is: write the sections themselves');
  }
}

const refused = (text: string, offset: number, message: string): Parsed => ({
  ok: false,
  errors: [{ path: '', message: `not valid YAML: ${message}`, ...locateIn(text, offset) }],
});

/** The place of an alias without an anchor before it. */
function looseAlias(document: Document): number | undefined {
  let found: number | undefined;
  visit(document, {
    Alias: (_key, node) => {
      if (node.resolve(document) !== undefined) return undefined;
      found = node.range?.[0] ?? 0;
      return visit.BREAK;
    },
  });
  return found;
}

/** The place where `<<` merges something that is not a section. */
function badMerge(document: Document): number {
  let found = 0;
  visit(document, {
    Pair: (_key, { key, value }) => {
      const source = isAlias(value) ? value.resolve(document) : value;
      if (!isScalar(key) || key.source !== '<<' || isMap(source)) return undefined;
      found = key.range?.[0] ?? 0;
      return visit.BREAK;
    },
  });
  return found;
}

/** A quote without an end is reported where it begins, not at the end of the file. */
function offsetOf({ code, pos }: YAMLError, document: Document): number {
  let at = pos[0];
  if (code === 'MISSING_CHAR')
    visit(document, {
      Scalar: (_key, node) => {
        const isQuoted = node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE';
        if (isQuoted && isNode(node) && node.range && node.range[1] >= pos[0]) at = node.range[0];
      },
    });
  return at;
}

/** The problem and its solution. Quotes the library only if that repeats no text of the file. */
function messageOf({ code, message, pos }: YAMLError, text: string): string {
  const [own = ''] = message.split(/: "/, 1);
  const hint = isUnquoted(text, pos[0]) ? `. Write "$\{NAME}" in quotes inside of { }` : '';
  const isFlow = /^Flow /u.test(own);
  if (code === 'BAD_INDENT' && isFlow) return `a { or [ above this line is not closed${hint}`;
  if (code === 'MISSING_CHAR' && own.includes('quote')) return 'the quote that opens here is not closed';
  return MESSAGES[code] ?? `${own}${hint}`;
}

const MESSAGES: Readonly<Partial<Record<YAMLError['code'], string>>> = {
  BAD_INDENT: 'this line begins at a different column from its section: indent it like the line it belongs with',
  TAB_AS_INDENT: 'this line is indented with a tab: use spaces',
  DUPLICATE_KEY: 'this key is given twice in its section: remove one',
  BAD_SCALAR_START: 'a text that begins with this sign must be in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a text with a colon and a space in it must be in quotes',
  MULTILINE_IMPLICIT_KEY: 'this line has no colon: write `key: value`',
  MULTIPLE_DOCS: 'a second document begins here: remove the line ---',
  TAG_RESOLVE_FAILED: 'a text that begins with ! must be in quotes',
};

/** Whether a line has `${NAME}` without quotes in a one-line map: YAML reads its brace as another map. */
function isUnquoted(text: string, offset: number): boolean {
  const written = text.slice(text.lastIndexOf('\n', offset - 1) + 1).split('\n', 1)[0] ?? '';
  const before = written.slice(0, Math.max(0, written.search(/[\s:,]\$\{\w/u)));
  const map = before.lastIndexOf('{');
  return map >= 0 && !/["'$]/u.test(before.slice(map));
}
