/** The names that a record may mean: its name as it stands, and as it was before people and systems changed it. */
import { type CompanyName, LOST_LETTER, readCompanyName } from '../../protocol/danish/company-name.ts';

/**
 * Another reading of a record's name: `bare` is it without what people add in a CRM, as `Nordlys ApS - Lager`; `filled` has
 * letters where a system lost some; `site` is the address of a site that stands in its place; `whole` is the name with the notes
 * beside it.
 */
export interface NameReading {
  readonly kind: 'bare' | 'filled' | 'site' | 'whole';
  readonly read: CompanyName;
}

/** Where people part a name from what they add: a dash or a bar, a comma, a line's end, brackets. */
const PARTED = /\s[-\u2010-\u2015|:\u00b7\u2022]+\s|\/\/|[|;\n]|,\s/u;
const BRACKETS = /[([{][^)\]}]*[)\]}]?/gu;
/** What stands behind a form is not of the name; a form within the first letters is none. */
const FORM = /\s(?:a\.?p\.?s|[aikp]\s?\/\s?s|ivs)[\s.,]/iu;
const BEFORE_FORM = 3;
/** Shorter parts are words of anybody. */
const LONG_ENOUGH = 4;
const MOST_PARTS = 4;
/** Words that make another company of the same group of a name. */
const GROUP_WORD =
  /^(?:holding(?:selskab(?:et)?)?|invest(?:ment)?|ejendom(?:me)?|gruppen?|group|koncern|kapital|capital|finans|komplementar)$/u;
/** What makes another company of a name besides. */
const TELLING = /^(?:\d{1,2}|(?!i$)\p{L}|(?!i$)[ivx]{1,4}|af)$/u;

/** Whether one name has a word of a group's company that the other has not: Nordlys Holding of Nordlys. */
export const isOfGroup = (words: readonly string[], other: readonly string[]): boolean =>
  words.some((word) => GROUP_WORD.test(word) && !other.includes(word));
/** More lost letters leave too little of a name. */
const MOST_LOST = 3;
/** What Danish letters are folded to: those that systems lose. */
const LETTERS = ['a', 'o'];

/** Readings besides that of the whole name. */
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
