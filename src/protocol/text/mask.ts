/** Masks secrets in the texts of others (answers, errors, logs), and in the values of documents. */

export const MASK = '***';

/** A shorter secret would mask ordinary words. The schemas never show one anyway. */
const MIN_LENGTH = 4;

/** Decodes a text from an address; returns it unchanged if that fails. */
export const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** The spellings of a secret: plain, encoded for an address, a form or JSON, decoded, and in base64. */
const spellings = (secret: string): string[] => [
  secret,
  encodeURIComponent(secret),
  new URLSearchParams({ s: secret }).toString().slice(2),
  JSON.stringify(secret).slice(1, -1),
  decoded(secret),
  ...[0, 1, 2].flatMap((before) => base64Spellings(secret, before)),
];

/**
 * The base64 characters that depend on a secret alone, after `before` bytes of a group of three: `user:secret` encodes the
 * secret at another offset than `secret`. With and without the padding, which follows a secret at the end.
 */
function base64Spellings(secret: string, before: number): string[] {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
  const [start, end] = [Math.ceil((before * 4) / 3), Math.floor((bytes.length * 4) / 3)];
  const padded = bytes.toString('base64').slice(start);
  const within = padded.slice(0, end - start);
  return [padded, within].flatMap((text) => [text, text.replaceAll('+', '-').replaceAll('/', '_')]);
}

/** Makes a function that masks the secrets in any text, in all spellings, in one pass. */
export function maskerOf(secrets: Iterable<string>): (text: string) => string {
  const all = new Set([...secrets].filter((secret) => secret.length >= MIN_LENGTH).flatMap(spellings));
  if (all.size === 0) return (text) => text;
  // Longest first: one secret may be the beginning of another.
  const sorted = [...all].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(sorted.map((secret) => RegExp.escape(secret)).join('|'), 'g');
  return (text) => text.replaceAll(pattern, MASK);
}

/**
 * Writes a document as JSON and masks its values one by one: a secret that is an ordinary word changes no key or
 * punctuation.
 */
export const maskedJson = (document: unknown, mask: (text: string) => string, indent?: number): string =>
  JSON.stringify(document, (_key, value) => maskedValue(value, mask), indent);

/** Masks one value of a document; a number only if it equals a secret. */
export function maskedValue<T>(value: T, mask: (text: string) => string): T | string {
  if (typeof value === 'string') return mask(value);
  return typeof value === 'number' && mask(String(value)) === MASK ? MASK : value;
}
