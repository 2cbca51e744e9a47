/** Reads JSON from strangers safely, and writes a value as one canonical text. */

/** A parsed JSON object. Test its keys with `Object.hasOwn` only. */
export type JsonObject = Readonly<Record<string, unknown>>;

export type JsonRead =
  | { readonly ok: true; readonly value: unknown; readonly text: string }
  | { readonly ok: false; readonly reason: string };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACKET = 0x5b;
const BRACE = 0x7b;
const BRACKET_END = 0x5d;
const BRACE_END = 0x7d;

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Whether a text has more than `most` opening brackets: otherwise it cannot be nested deeper, as is true of most
 * webhooks.
 */
const hasMoreOpenings = (text: string, most: number): boolean => {
  let left = most;
  for (const opening of ['{', '['])
    for (let at = text.indexOf(opening); at >= 0; at = text.indexOf(opening, at + 1)) if (--left < 0) return true;
  return false;
};

/** The end of the string literal that begins before `from`; the end of the bytes if it is not closed. */
const endOfText = (bytes: Uint8Array, from: number): number => {
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  return bytes.length;
};

const isDeeper = (bytes: Uint8Array, maxDepth: number): boolean => {
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfText(bytes, at + 1);
    else if (byte === BRACE || byte === BRACKET) {
      depth++;
      if (depth > maxDepth) return true;
    } else if (byte === BRACE_END || byte === BRACKET_END) depth--;
  }
  return false;
};

/**
 * Parses a body and drops a byte order mark. Refuses bytes that are not UTF-8, and nesting beyond `maxDepth` before
 * parsing, so that no later walk exhausts the stack. The reason never quotes the body.
 */
export const readJson = (bytes: Uint8Array, maxDepth = 100): JsonRead => {
  if (bytes.length === 0) return { ok: false, reason: 'the body is empty' };
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    return { ok: false, reason: 'the body is not UTF-8' };
  }
  if (hasMoreOpenings(text, maxDepth) && isDeeper(bytes, maxDepth))
    return { ok: false, reason: `the body is nested deeper than ${maxDepth} levels` };
  try {
    return { ok: true, value: JSON.parse(text), text };
  } catch {
    return { ok: false, reason: 'the body is not JSON' };
  }
};

/** Whether a value is a JSON object: not an array, not null. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The own key of an object under one of these names: exact spelling first, in the order of the names, then any case.
 */
export const findKey = (object: JsonObject, names: readonly string[]): string | undefined => {
  for (const name of names) if (Object.hasOwn(object, name)) return name;
  const lower = names.map((name) => name.toLowerCase());
  return Object.keys(object).find((key) => lower.includes(key.toLowerCase()));
};

export const findValue = (object: JsonObject, ...names: readonly string[]): unknown => {
  const key = findKey(object, names);
  return key === undefined ? undefined : object[key];
};

/**
 * The canonical text of a parsed JSON value: keys sorted by code unit, no blanks, numbers as JavaScript prints them.
 * Equal values give equal texts. Recursive: use it for values that {@link readJson} accepted.
 */
export const canonicalJson = (value: unknown): string => {
  const sorted = inOrder(value);
  return sorted === UNORDERABLE ? spelled(value) : (JSON.stringify(sorted) ?? 'null');
};

/** Marks a value that JSON.stringify would not write canonically. */
const UNORDERABLE = Symbol('unorderable');

/** A key that JavaScript moves to the front in numeric order, or that does not become a property when set. */
const isOdd = (key: string): boolean => /^\d|^__proto__$/u.test(key);

/**
 * A copy with sorted keys for one call of JSON.stringify, which takes half as long as writing the text piece by piece.
 */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) {
    const copy = value.map(inOrder);
    return copy.includes(UNORDERABLE) ? UNORDERABLE : copy;
  }
  if (!isJsonObject(value)) return typeof value === 'number' && !Number.isFinite(value) ? UNORDERABLE : value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) {
    const held = inOrder(value[key]);
    if (held === UNORDERABLE || isOdd(key)) return UNORDERABLE;
    copy[key] = held;
  }
  return copy;
}

function spelled(value: unknown): string {
  if (typeof value === 'number') return ofNumber(value);
  if (Array.isArray(value)) return `[${value.map(spelled).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value) ?? 'null';
  const entries = Object.keys(value).filter((key) => value[key] !== undefined);
  return `{${entries
    .sort()
    .map((key) => `${JSON.stringify(key)}:${spelled(value[key])}`)
    .join(',')}}`;
}

function ofNumber(value: number): string {
  if (Number.isFinite(value)) return JSON.stringify(value);
  // A number beyond double precision was parsed to infinity and must not become null.
  return value > 0 ? '1e999' : '-1e999';
}
