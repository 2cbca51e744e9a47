/** Finds the numbers and names of erased entities in prose, by digests. Pure. */
import { createHmac } from 'node:crypto';

export const digestOf = (salt: string, text: string): string => createHmac('sha256', salt).update(text).digest('hex');

/** Folds case to compare names. Keeps the positions of the text's NFC: does not fold a letter whose lower case is longer. */
export const fold = (text: string): string =>
  Array.from(text.normalize('NFC'), (letter) => {
    const lower = letter.toLowerCase();
    return lower.length === letter.length ? lower : letter;
  }).join('');

/** Decodes JSON escapes if the text looks like JSON: some senders escape every non-ASCII letter. */
export const unescaped = (text: string): string =>
  /^\s*[[{]/.test(text)
    ? text
        .replaceAll(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
        .replaceAll(/\\[bfnrt]/g, ' ')
    : text;

const WORD = /[\p{L}\p{N}]+/gu;
const NUMBER = /(?<!\d)\d(?:[ .]?\d){7,9}(?!\d)/g;
const ID = /\bCVR-[123]-$/i;
/** The prefixes of companies, production units and persons. */
const REGISTER_IDS = ['CVR-1-', 'CVR-2-', 'CVR-3-'];

const wordsOf = (text: string): readonly string[] => fold(text).match(WORD) ?? [];

/** Two bytes of a word's digest: a cheap first test. */
function shortOf(word: string): string {
  let sum = 0x811c9dc5;
  for (let at = 0; at < word.length; at++) sum = Math.imul(sum ^ word.charCodeAt(at), 0x01000193);
  return ((sum ^ (sum >>> 16)) & 0xffff).toString(16).padStart(4, '0');
}

/** The digest of a name with its number of words; undefined for a single word, which is too ambiguous. */
export function nameDigest(salt: string, name: string): string | undefined {
  const words = wordsOf(name);
  const [first = ''] = words;
  if (words.length < 2) return undefined;
  return `name:${words.length}:${shortOf(first)}:${digestOf(salt, words.join(' '))}`;
}

export interface NameFinder {
  hasName(text: string): boolean;
  hasNumber(text: string): boolean;
  /** Replaces each number, and with `names` each name, by `instead`. */
  without(text: string, instead: string, options: { readonly names: boolean }): string;
}

interface Place {
  readonly start: number;
  readonly end: number;
}

export function createNameFinder(salt: string, digests: ReadonlySet<string>): NameFinder {
  const names = [...digests].filter((digest) => digest.startsWith('name:')).map((digest) => digest.split(':'));
  const counts = [...new Set(names.map(([, count]) => Number(count)))].toSorted((a, b) => b - a);
  const firsts = new Set(names.map(([, , first]) => first));

  const numbersIn = (text: string): readonly Place[] =>
    [...text.matchAll(NUMBER)].flatMap(({ 0: found, index }) => {
      const digits = found.replaceAll(/\D/g, '');
      if (!REGISTER_IDS.some((kind) => digests.has(digestOf(salt, kind + digits)))) return [];
      const before = ID.exec(text.slice(Math.max(0, index - 6), index))?.[0] ?? '';
      return [{ start: index - before.length, end: index + found.length }];
    });

  function namesIn(text: string): readonly Place[] {
    const words = names.length === 0 ? [] : [...fold(text).matchAll(WORD)];
    const found: Place[] = [];
    for (let at = 0; at < words.length; ) {
      const name = nameAt(words, at);
      const [first, last] = [name[0], name.at(-1)];
      if (first !== undefined && last !== undefined)
        found.push({ start: first.index, end: last.index + last[0].length });
      at += Math.max(1, name.length);
    }
    return found;
  }

  /** The words of the longest erased name that begins here. */
  function nameAt(words: readonly RegExpExecArray[], at: number): readonly RegExpExecArray[] {
    const short = shortOf(words[at]?.[0] ?? '');
    if (!firsts.has(short)) return [];
    const candidates = counts.map((count) => words.slice(at, at + count));
    return candidates.find((some, index) => some.length === counts[index] && isName(some, short)) ?? [];
  }

  const isName = (words: readonly RegExpExecArray[], short: string): boolean =>
    digests.has(`name:${words.length}:${short}:${digestOf(salt, words.map(([word]) => word).join(' '))}`);

  return {
    hasName: (text) => namesIn(text).length > 0,
    hasNumber: (text) => numbersIn(text).length > 0,
    without(text, instead, { names: withNames }) {
      const plain = cut(text, numbersIn(text), instead);
      const places = withNames ? namesIn(plain) : [];
      return places.length === 0 ? plain : cut(plain.normalize('NFC'), places, instead);
    },
  };
}

function cut(text: string, places: readonly Place[], instead: string): string {
  let left = text;
  for (const { start, end } of places.toReversed()) left = left.slice(0, start) + instead + left.slice(end);
  return left;
}
