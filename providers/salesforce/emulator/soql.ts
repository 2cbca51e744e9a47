/** The part of SOQL the emulator understands: one object, conditions joined by AND, ORDER BY, LIMIT. */
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

type Token = { readonly kind: 'text' | 'time' | 'number' | 'word' | 'sign'; readonly text: string };

/** Reads a query; undefined where it is malformed. */
export function parseSoql(soql: string): Query | undefined {
  const tokens = tokenize(soql);
  if (tokens === undefined) return undefined;
  let at = 0;
  const word = (text: string): boolean => {
    const token = tokens[at];
    const hit = token !== undefined && token.kind !== 'text' && token.text.toUpperCase() === text;
    if (hit) at += 1;
    return hit;
  };
  const name = (): string | undefined => {
    const token = tokens[at];
    if (token?.kind !== 'word') return undefined;
    at += 1;
    return token.text;
  };
  const list = <T>(item: () => T | undefined): readonly T[] | undefined => {
    const items: T[] = [];
    do {
      const one = item();
      if (one === undefined) return undefined;
      items.push(one);
    } while (word(','));
    return items;
  };
  const value = (): { readonly value: PropertyValue } | undefined => {
    const token = tokens[at];
    at += 1;
    return token === undefined ? undefined : literal(token);
  };
  const condition = (): SoqlCondition | undefined => {
    const field = name();
    if (field === undefined) return undefined;
    if (word('IN')) {
      const values = word('(') ? list(value) : undefined;
      return values !== undefined && word(')')
        ? { field, operator: 'IN', values: values.map((v) => v.value) }
        : undefined;
    }
    const operator = OPERATORS.find((sign) => word(sign));
    const right = operator === undefined ? undefined : value();
    return operator === undefined || right === undefined ? undefined : { field, operator, values: [right.value] };
  };

  const fields = word('SELECT') ? list(name) : undefined;
  const object = word('FROM') ? name() : undefined;
  if (fields === undefined || object === undefined) return undefined;
  const where: SoqlCondition[] = [];
  if (word('WHERE')) {
    do {
      const one = condition();
      if (one === undefined) return undefined;
      where.push(one);
    } while (word('AND'));
  }
  const key = (): SoqlOrder | undefined => {
    const field = name();
    const descending = word('DESC');
    if (!descending) word('ASC');
    return field === undefined ? undefined : { field, descending };
  };
  const order = word('ORDER') ? (word('BY') ? list(key) : undefined) : [];
  if (order === undefined) return undefined;
  let limit: number | undefined;
  if (word('LIMIT')) {
    const token = tokens[at];
    if (token?.kind !== 'number') return undefined;
    limit = Number(token.text);
    at += 1;
  }
  return at === tokens.length ? { fields, object, where, order, limit } : undefined;
}

const OPERATORS = ['=', '!=', '>=', '<=', '>', '<'] as const;

function tokenize(soql: string): readonly Token[] | undefined {
  const tokens: Token[] = [];
  TOKENS.lastIndex = 0;
  while (TOKENS.lastIndex < soql.length) {
    const match = TOKENS.exec(soql);
    if (match === null) return undefined;
    const [, text, time, number, word, sign] = match;
    if (text !== undefined) tokens.push({ kind: 'text', text: text.replace(/\\(.)/g, '$1') });
    else if (time !== undefined) tokens.push({ kind: 'time', text: time });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word });
    else if (sign !== undefined) tokens.push({ kind: 'sign', text: sign });
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
