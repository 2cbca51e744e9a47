/** What people write beside a name in a CRM, by a list of words: no part of the name. Pure. */
import { passesModulus11 } from '../protocol/cvr-number.ts';

/** A name without such notes, and what they say. */
export interface NotedName {
  readonly name: string;
  /** A phone number behind the name. */
  readonly phone: string | undefined;
}

const LONGEST = 200;

/** What a person notes of a customer: alone behind a mark, or in brackets. */
const WORDS =
  `faktura|fakturaer|fakturering|fakturaadresse|invoice|bogholderi|bogholderiet|regnskab|kreditor|debitor|vip|dublet|dubletter|
duplikat|duplicate|slet|slettes|skal slettes|bruges ikke|brug ikke|m[åa] ikke bruges|inaktiv|inactive|aktiv|gammel kunde|ny kunde|
kunde|leverand[øo]r|prospect|lead|emne|tjek|tjekkes|check|spærret|kreditstop|kontant|lukket|oph[øo]rt|solgt|konkurs|test|privat|nb|obs|vigtig|ring|ring igen`.replaceAll(
    /\n/gu,
    '',
  );
/** `*VIP*`, `(dublet?)`, `[slettes]`. */
const MARKED = new RegExp(`\\*+[^*]{1,40}\\*+|[(\\[{<]\\s*(?:${WORDS})[\\s?!.]*[)\\]}>]`, 'giu');
/** `/ faktura`, `- dublet?`, and a word with a question mark or exclamation marks. */
const BEHIND = new RegExp(
  `(?:\\s*[/|,;]\\s*|\\s[-\\u2010-\\u2015]+\\s*)(?:${WORDS})[\\s?!.]*$|\\s(?:dublet|duplikat|duplicate|vip|slettes|inaktiv|kreditstop)[\\s?!.]*$`,
  'iu',
);
/** `OBS: ring først`, with all that follows; in front of a name it is alone. */
const REMARK = /[\s,;/([-]+(?:obs|nb|bem(?:ærk)?|note|vigtigt?)\s?[:!]+.*$/iu;
const BEFORE =
  /^\s*(?:(?:obs|nb|vip|dublet|vigtigt?)\s?[:!?]+|\*+|firma(?:et)?\s*:?\s(?=\p{L})|(?:virksomhed(?:en)?|kunde|leverandør|navn|firmanavn)\s*:)\s*/iu;
const SHOUTED = /\s*[!?*]{1,}\s*$/u;

/** `Nordlys (nu Solvind ApS)`: it is called so today. */
const NOW =
  /(?:\s*[([]\s*|\s[-\u2010-\u2015]+\s|\s*[,;/]\s*)(?:nu|now|hedder nu|er nu|nyt navn)\s?:?\s+([^)\]]{3,})[)\]]?\s*$/iu;
/** `Solvind ApS (tidligere Nordlys)`: it was called so, as another may be today. */
const BEFORE_NOW =
  /(?:\s*[([]\s*|\s[-\u2010-\u2015]+\s|\s*[,;/]\s*)(?:tidl\.?|tidligere|tdl\.?|formerly|fhv\.?|f\.?k\.?a\.?|ex|hed f[øo]r)\s?:?\s+[^)\]]{2,}[)\]]?\s*$/iu;

/** Eight digits behind a name, in whole or in pairs: a number that fails the check digits is no CVR number. */
const PHONE = /[\s,;/(-]+((?:(?:\+|00)45[\s-]?)?\d{2}[ .-]?\d{2}[ .-]?\d{2}[ .-]?\d{2})\)?\s*$/u;
const COUNTRY_CODE = /^(?:\+|00)45/u;

/** Takes what is no part of it out of a name. A name that is nothing else stays. */
export function withoutNotes(text: string): NotedName {
  let name = text.slice(0, LONGEST);
  let phone: string | undefined;
  // Each note may stand behind another one.
  for (let before = ''; before !== name; ) {
    before = name;
    const found = PHONE.exec(name);
    const digits = found?.[1] ?? '';
    const isPhone = COUNTRY_CODE.test(digits) || !passesModulus11(digits.replaceAll(/\D/gu, ''));
    if (found !== null && isPhone) {
      phone ??= digits;
      name = kept(name, name.slice(0, found.index));
    }
    name = kept(name, NOW.exec(name)?.[1] ?? name);
    for (const note of [BEFORE_NOW, REMARK, MARKED, BEHIND, BEFORE, SHOUTED])
      name = kept(name, name.replace(note, ' '));
  }
  return { name: text.length > LONGEST ? text : name, phone };
}

/** What is left of a name, where it is still one. */
const kept = (name: string, left: string): string => (/[\p{L}\p{N}]/u.test(left) ? left.trim() : name);
