/** Names that differ as people and systems write them, and mean the same. */
import type { CompanyName } from '../../protocol/danish/company-name.ts';
import { isOtherWord } from '../../protocol/danish/name-words.ts';
import { isWithin } from './distance.ts';

type Name = Pick<CompanyName, 'words' | 'compact' | 'shortened'>;

/** How many letters may differ in a whole name, by length. */
const slips = (length: number): number => (length < 6 ? 0 : length < 12 ? 1 : length < 20 ? 2 : 3);
/** How many in one of several words: Hansen is not Jensen. */
const slipsOfWord = (length: number): number => (length < 4 ? 0 : length < 8 ? 1 : 2);

/** Whether slips of a keyboard part the names. */
export function isSpelledNearly(a: Name, b: Name): boolean {
  const most = slips(Math.min(a.compact.length, b.compact.length));
  if (a.words.length !== b.words.length || a.words.length < 2)
    return !isWithWord(a, b) && !isWithWord(b, a) && isWithin(a.compact, b.compact, most);
  const areNear = a.words.every((word, at) => {
    const other = b.words[at] ?? '';
    return word === other || isWithin(word, other, slipsOfWord(Math.min(word.length, other.length)));
  });
  return areNear && isWithin(a.compact, b.compact, most + 1);
}

/** Whether what parts two such names makes another given name, surname or trade of the record's word. */
export function namesAnother(record: Name, other: Name): boolean {
  const isOneWordMore = record.words.length !== other.words.length;
  return (
    (isOneWordMore && isOtherWord(record.compact, other.compact)) ||
    record.words.some((word, at) => {
      const read = other.words[at] ?? '';
      return word !== read && isWithin(word, read, slipsOfWord(word.length)) && isOtherWord(word, read);
    })
  );
}

/** Whether one name is the other with a word more: Nordlys IT is not Nordlys. */
const isWithWord = (short: Name, long: Name): boolean =>
  short.words.length < long.words.length && short.words.every((word) => long.words.includes(word));

/** Whether the names have the same words in another order. */
export const isSwapped = (a: Name, b: Name): boolean =>
  a.words.length > 1 && a.compact.length === b.compact.length && sorted(a) === sorted(b);

const sorted = ({ words }: Name): string => words.toSorted().join(' ');

/** A field of a CRM that cuts names holds so many letters. */
const CUT = 18;

/** Whether one name is the other with shorter words: `O. Hansen Tømrerforr.`, or cut where a field of the record ended. */
export const isShortened = (record: Name, other: Name): boolean =>
  isCut(record, other) || hasShortWords(record, other) || hasShortWords(other, record);

function isCut({ words, compact }: Name, long: Name): boolean {
  if (compact.length < CUT) return false;
  const whole = words.slice(0, -1);
  const last = words.at(-1) ?? '';
  if (!whole.every((word, at) => word === long.words[at])) return false;
  return isBegin(last, long.words[whole.length]);
}

function hasShortWords({ words, shortened }: Name, long: Name): boolean {
  if (words.length !== long.words.length || words.length < 2) return false;
  let shorter = 0;
  for (const [at, word] of words.entries()) {
    const other = long.words[at];
    if (word === other) continue;
    const isInitial = word.length === 1 && at < words.length - 1;
    if (!(isInitial || shortened.includes(word)) || !isBegin(word, other)) return false;
    shorter += 1;
  }
  return shorter > 0 && (shorter < words.length || words.every((word) => word.length > 1));
}

const isBegin = (word: string, other: string | undefined): boolean =>
  other !== undefined && word.length < other.length && other.startsWith(word);
