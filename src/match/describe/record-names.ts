/** The possible names in a record: as written, and as it was before people and systems changed it. */
import { type CompanyName, LOST_LETTER, readCompanyName } from '../../protocol/danish/company-name.ts';

/**
 * Another reading of a record's name. `bare`: without additions, as in `Nordlys ApS - Lager`; `filled`: with letters
 * that a system lost; `site`: from a web address instead of a name; `whole`: with the notes.
 */
export interface NameReading {
  readonly kind: 'bare' | 'filled' | 'site' | 'whole';
  readonly read: CompanyName;
}

/** Separators between a name and an addition: a dash, a bar, a comma or a line break. */
const PARTED = /\s[-\u2010-\u2015|:\u00b7\u2022]+\s|\/\/|[|;\n]|,\s/u;
const BRACKETS = /[([{][^)\]}]*[)\]}]?/gu;
/** What follows the form is not part of the name. */
const FORM = /\s(?:a\.?p\.?s|[aikp]\s?\/\s?s|ivs)[\s.,]/iu;
const BEFORE_FORM = 3;
/** Shorter parts are common words. */
const LONG_ENOUGH = 4;
const MOST_PARTS = 4;
/** Words that make a name that of another company in the group. */
const GROUP_WORD =
  /^(?:holding(?:selskab(?:et)?)?|invest(?:ment)?|ejendom(?:me)?|gruppen?|group|koncern|kapital|capital|finans|komplementar)$/u;
/** Other words that distinguish companies. */
const TELLING = /^(?:\d{1,2}|(?!i$)\p{L}|(?!i$)[ivx]{1,4}|af)$/u;

/** Whether one name has a group word that the other lacks: Nordlys Holding and Nordlys. */
export const isOfGroup = (words: readonly string[], other: readonly string[]): boolean =>
  words.some((word) => GROUP_WORD.test(word) && !other.includes(word));
/** With more lost letters too little of a name is left. */
const MOST_LOST = 3;
/** The folded Danish letters, which systems lose. */
const LETTERS = ['a', 'o'];

/** Readings other than that of the whole name. */
export function nameReadings(text: string, whole: CompanyName): readonly NameReading[] {
  const parts = new Map<string, NameReading>();
  for (const part of partsOf(text)) {
    const read = readCompanyName(part);
    if (read.compact.length < LONG_ENOUGH || read.compact === whole.compact) continue;
    const isTold =
      isOfGroup(whole.words, read.words) ||
      whole.words.some((word) => TELLING.test(word) && !read.words.includes(word));
    if (!isTold && parts.size < MOST_PARTS) parts.set(read.compact, { kind: 'bare', read });
  }
  return [...parts.values(), ...filled(whole)];
}

function partsOf(text: string): readonly string[] {
  const short = text.slice(0, 200);
  const outside = short.replace(BRACKETS, ' ');
  const form = FORM.exec(short.slice(BEFORE_FORM));
  return [
    ...(form === null ? [] : [short.slice(0, BEFORE_FORM + form.index + form[0].length)]),
    ...(outside === short ? [] : [outside]),
    ...outside.split(PARTED),
  ].map((part) => part.trim());
}

function filled(whole: CompanyName): readonly NameReading[] {
  const lost = whole.compact.split(LOST_LETTER).length - 1;
  if (lost === 0 || lost > MOST_LOST) return [];
  let spellings: readonly string[][] = [[...whole.words]];
  for (let at = 0; at < lost; at += 1)
    spellings = spellings.flatMap((words) => LETTERS.map((letter) => fillFirst(words, letter)));
  return spellings.map((words) => ({ kind: 'filled', read: { ...whole, words, compact: words.join('') } }));
}

const fillFirst = (words: readonly string[], letter: string): string[] => {
  const at = words.findIndex((word) => word.includes(LOST_LETTER));
  return words.map((word, index) => (index === at ? word.replace(LOST_LETTER, letter) : word));
};
