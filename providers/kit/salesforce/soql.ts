/** The part of SOQL that the emulator understands: one object, conditions joined by AND, ORDER BY, LIMIT. */
import type { PropertyValue } from '../../provider.ts';

export interface SoqlCondition {
  readonly field: string;
  readonly operator: '=' | '!=' | '>' | '<' | '>=' | '<=' | 'IN';
  readonly values: readonly PropertyValue[];
}

export interface SoqlOrder {
  readonly field: string;
  readonly descending: boolean;
}

export interface Query {
  readonly fields: readonly string[];
  readonly object: string;
  readonly where: readonly SoqlCondition[];
  readonly order: readonly SoqlOrder[];
  readonly limit: number | undefined;
}

const TOKENS =
  /\s+|'((?:[^'\\]|\\.)*)'|(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d))|(-?\d+(?:\.\d+)?)|([A-Za-z_][\w.]*)|(<=|>=|!=|[=<>(),])/y;

const KINDS = ['text', 'time', 'number', 'word', 'sign'] as const;
type Token = { readonly kind: (typeof KINDS)[number]; readonly text: string };

export function parseSoql(soql: string): Query | undefined {
  const tokens = tokenize(soql);
  if (tokens === undefined) return undefined;
  const reader = readerOf(tokens);
  const { word, name } = reader;
  const fields = word('SELECT') ? list(reader, name) : undefined;
  const object = word('FROM') ? name() : undefined;
  const where = word('WHERE') ? list(reader, () => condition(reader), 'AND') : [];
  const order = word('ORDER') ? orderBy(reader) : [];
  const limit = word('LIMIT') ? reader.number() : 'none';
  const parts = { fields, object, where, order };
  if (!isWhole(parts) || limit === undefined || !reader.isAtEnd()) return undefined;
  return { ...parts, limit: limit === 'none' ? undefined : limit };
}

type Parts = Omit<Query, 'limit'>;
const isWhole = (parts: { readonly [P in keyof Parts]: Parts[P] | undefined }): parts is Parts =>
  Object.values(parts).every((part) => part !== undefined);

/** Takes tokens from the front. Each method takes the token that it names, or nothing. */
interface Reader {
  /** Takes a word or a sign; false if another one is there. */
  readonly word: (text: string) => boolean;
  readonly name: () => string | undefined;
  readonly number: () => number | undefined;
  readonly value: () => { readonly value: PropertyValue } | undefined;
  readonly isAtEnd: () => boolean;
}

function readerOf(tokens: readonly Token[]): Reader {
  let at = 0;
  const take = (kind: Token['kind']): string | undefined => {
    const token = tokens[at];
    if (token?.kind !== kind) return undefined;
    at += 1;
    return token.text;
  };
  return {
    word(text) {
      const token = tokens[at];
      const isHit = token !== undefined && token.kind !== 'text' && token.text.toUpperCase() === text;
      if (isHit) at += 1;
      return isHit;
    },
    name: () => take('word'),
    number() {
      const text = take('number');
      return text === undefined ? undefined : Number(text);
    },
    value() {
      const token = tokens[at];
      at += 1;
      return token === undefined ? undefined : literal(token);
    },
    isAtEnd: () => at === tokens.length,
  };
}

function list<T>({ word }: Reader, item: () => T | undefined, separator = ','): readonly T[] | undefined {
  const items: T[] = [];
  do {
    const one = item();
    if (one === undefined) return undefined;
    items.push(one);
  } while (word(separator));
  return items;
}

const OPERATORS = ['=', '!=', '>=', '<=', '>', '<'] as const;

function condition(reader: Reader): SoqlCondition | undefined {
  const { word, name, value } = reader;
  const field = name();
  if (field === undefined) return undefined;
  if (word('IN')) {
    const values = word('(') ? list(reader, value) : undefined;
    return values !== undefined && word(')')
      ? { field, operator: 'IN', values: values.map((v) => v.value) }
      : undefined;
  }
  const operator = OPERATORS.find((sign) => word(sign));
  const right = operator === undefined ? undefined : value();
  return operator === undefined || right === undefined ? undefined : { field, operator, values: [right.value] };
}

function orderBy(reader: Reader): readonly SoqlOrder[] | undefined {
  const { word, name } = reader;
  if (!word('BY')) return undefined;
  return list(reader, () => {
    const field = name();
    const descending = word('DESC');
    if (!descending) word('ASC');
    return field === undefined ? undefined : { field, descending };
  });
}

function tokenize(soql: string): readonly Token[] | undefined {
  const tokens: Token[] = [];
  TOKENS.lastIndex = 0;
  while (TOKENS.lastIndex < soql.length) {
    const groups = TOKENS.exec(soql)?.slice(1);
    if (groups === undefined) return undefined;
    const found = groups.findIndex((group) => group !== undefined);
    const [kind, text] = [KINDS[found], groups[found]];
    // Blanks are of no kind.
    if (kind === undefined || text === undefined) continue;
    tokens.push({ kind, text: kind === 'text' ? text.replace(/\\(.)/g, '$1') : text });
  }
  return tokens;
}

function literal({ kind, text }: Token): { readonly value: PropertyValue } | undefined {
  if (kind === 'text' || kind === 'time') return { value: text };
  if (kind === 'number') return { value: Number(text) };
  const words: Readonly<Record<string, PropertyValue>> = { true: true, false: false, null: null };
  const value = kind === 'word' ? words[text.toLowerCase()] : undefined;
  return value === undefined ? undefined : { value };
}
