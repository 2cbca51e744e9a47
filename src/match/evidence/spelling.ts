/** Recognises names that people and systems spell differently. */
import type { CompanyName } from '../../protocol/danish/company-name.ts';
import { isOtherWord } from '../../protocol/danish/name-words.ts';
import { isWithin } from './distance.ts';

type Name = Pick<CompanyName, 'words' | 'compact' | 'shortened'>;

/** Allowed edits in a whole name, by its length. */
const slips = (length: number): number => (length < 6 ? 0 : length < 12 ? 1 : length < 20 ? 2 : 3);
/** Allowed edits in one of several words: Hansen is not Jensen. */
const slipsOfWord = (length: number): number => (length < 4 ? 0 : length < 8 ? 1 : 2);

/** Whether typing errors explain the difference. */
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

/** Whether the difference turns the record's word into another given name, surname or trade. */
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

/** Whether one name is the other plus a word: Nordlys IT is not Nordlys. */
const isWithWord = (short: Name, long: Name): boolean =>
  short.words.length < long.words.length && short.words.every((word) => long.words.includes(word));

/** Whether the names have the same words in another order. */
export const isSwapped = (a: Name, b: Name): boolean =>
  a.words.length > 1 && a.compact.length === b.compact.length && sorted(a) === sorted(b);

const sorted = ({ words }: Name): string => words.toSorted().join(' ');

/** CRM fields that cut names hold at least this many characters. */
const CUT = 18;

/** Whether one name abbreviates the other, as `O. Hansen Tømrerforr.` does, or was cut at the end of a field. */
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
