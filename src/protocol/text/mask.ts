/** Masks secrets in texts that others wrote (answers, errors, logs), and in the values of documents. */

/** What stands in place of a secret. */
export const MASK = '***';

/** A shorter secret would mask ordinary words; the schemas show such a one nowhere. */
const MIN_LENGTH = 4;

/** A text as an address encoded it; as it is where it was not encoded. */
export const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/**
 * The spellings in which a secret turns up: as it is, in an address, in a form, in JSON, as an address had it encoded, and in
 * base64.
 */
const spellings = (secret: string): string[] => [
  secret,
  encodeURIComponent(secret),
  new URLSearchParams({ s: secret }).toString().slice(2),
  JSON.stringify(secret).slice(1, -1),
  decoded(secret),
  ...[0, 1, 2].flatMap((before) => base64Spellings(secret, before)),
];

/**
 * The characters of base64 that stand for a secret and for nothing else, where so many bytes come before it in a group of
 * three: `user:secret` encodes it at another offset than `secret`. With those that end the text, where the secret does.
 */
function base64Spellings(secret: string, before: number): string[] {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
  const [start, end] = [Math.ceil((before * 4) / 3), Math.floor((bytes.length * 4) / 3)];
  const padded = bytes.toString('base64').slice(start);
  const within = padded.slice(0, end - start);
  return [padded, within].flatMap((text) => [text, text.replaceAll('+', '-').replaceAll('/', '_')]);
}

/** Makes a function that masks the secrets in any text, whatever spelled them into it. Costs one pass over the text. */
export function maskerOf(secrets: Iterable<string>): (text: string) => string {
  const all = new Set([...secrets].filter((secret) => secret.length >= MIN_LENGTH).flatMap(spellings));
  if (all.size === 0) return (text) => text;
  // Longest first: one secret may begin another.
  const sorted = [...all].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(sorted.map((secret) => RegExp.escape(secret)).join('|'), 'g');
  return (text) => text.replaceAll(pattern, MASK);
}

/** A document as JSON, its values masked one by one: a secret that is an ordinary word changes no key and no mark of it. */
export const maskedJson = (document: unknown, mask: (text: string) => string, indent?: number): string =>
  JSON.stringify(document, (_key, value) => maskedValue(value, mask), indent);

/** One value of a document, masked. A number is masked where it is a secret as a whole. */
export function maskedValue<T>(value: T, mask: (text: string) => string): T | string {
  if (typeof value === 'string') return mask(value);
  return typeof value === 'number' && mask(String(value)) === MASK ? MASK : value;
}
