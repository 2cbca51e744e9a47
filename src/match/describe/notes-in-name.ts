/** Removes people's notes from a name, by a list of words. Pure. */
import { passesModulus11 } from '../../protocol/cvr-number.ts';

export interface NotedName {
  readonly name: string;
  /** A phone number after the name. */
  readonly phone: string | undefined;
}

const LONGEST = 200;

/** Notes about a customer: alone after a separator, or in brackets. */
const WORDS =
  `faktura|fakturaer|fakturering|fakturaadresse|invoice|bogholderi|bogholderiet|regnskab|kreditor|debitor|vip|dublet|dubletter|
duplikat|duplicate|slet|slettes|skal slettes|bruges ikke|brug ikke|m[åa] ikke bruges|inaktiv|inactive|aktiv|gammel kunde|ny kunde|
kunde|leverand[øo]r|prospect|lead|emne|tjek|tjekkes|check|spærret|kreditstop|kontant|lukket|oph[øo]rt|solgt|konkurs|test|privat|nb|obs|vigtig|ring|ring igen`.replaceAll(
    /\n/gu,
    '',
  );
/** `*VIP*`, `(dublet?)`, `[slettes]`. */
const MARKED = new RegExp(`\\*[^*]{1,40}\\*|[(\\[{<] ?(?:${WORDS})[ ?!.]{0,5}[)\\]}>]`, 'giu');
/** `/ faktura`, `- dublet?`, and a word with a question mark or exclamation marks. */
const BEHIND = new RegExp(
  `(?:[/|,;] ?| [-\\u2010-\\u2015] ?)(?:${WORDS})[ ?!.]{0,5}$| (?:dublet|duplikat|duplicate|vip|slettes|inaktiv|kreditstop)[ ?!.]{0,5}$`,
  'iu',
);
/** The beginning of a note such as `OBS: ring først`, which takes the rest; before a name only the word is a note. */
const REMARK = /[ ,;/([-](?:obs|nb|bem(?:ærk)?|note|vigtigt?) ?[:!]/iu;
const BEFORE =
  /^(?:(?:obs|nb|vip|dublet|vigtigt?) ?[:!?]|\*|(?:virksomhed(?:en)?|kunde|leverandør|navn|firmanavn) ?:)/iu;
const FIRM = /^firma(?:et)? ?:? /iu;
const SHOUTED = '!?* ';
const SEPARATORS = ' ,;/|([-\u2010\u2011\u2012\u2013\u2014\u2015';

/** The beginning of `(nu Solvind ApS)`, the current name. */
const NOW = /(?:[([] ?| [-\u2010-\u2015] |[,;/] ?)(?:nu|now|hedder nu|er nu|nyt navn) ?:? /giu;
/** The beginning of `(tidligere Nordlys)`, a former name that another company may have today. */
const BEFORE_NOW =
  /(?:[([] ?| [-\u2010-\u2015] |[,;/] ?)(?:tidl\.?|tidligere|tdl\.?|formerly|fhv\.?|f\.?k\.?a\.?|ex|hed f[øo]r) ?:? /giu;

/** Eight digits after a name, with or without blanks: with wrong check digits they are not a CVR number. */
const PHONE = /[ ,;/(-]((?:(?:\+|00)45[ -]?)?\d{2}[ .-]?\d{2}[ .-]?\d{2}[ .-]?\d{2})\)?$/u;
const COUNTRY_CODE = /^(?:\+|00)45/u;

/** Removes the notes from a name; a name that is only a note stays. */
export function withoutNotes(text: string): NotedName {
  if (text.length > LONGEST) return { name: text, phone: undefined };
  // Single spaces, because an expression that repeats blanks could take quadratic time.
  const whole = text.trim().replaceAll(/\s+/gu, ' ');
  let name = whole;
  let phone: string | undefined;
  // A note may follow another one.
  for (let before = ''; before !== name; ) {
    before = name;
    const found = phoneIn(name);
    if (found !== undefined) {
      phone ??= found.digits;
      name = kept(name, withoutEnd(name.slice(0, found.index), SEPARATORS));
    }
    name = kept(name, named(name, NOW, 3)?.other ?? name);
    name = kept(name, named(name, BEFORE_NOW, 2)?.own ?? name);
    const remark = REMARK.exec(name);
    if (remark !== null) name = kept(name, withoutEnd(name.slice(0, remark.index), SEPARATORS));
    for (const note of [MARKED, BEHIND, BEFORE]) name = kept(name, name.replace(note, ' '));
    const own = name.replace(FIRM, '');
    if (/^\p{L}/u.test(own)) name = kept(name, own);
    name = kept(name, withoutEnd(name, SHOUTED));
  }
  return { name: name === whole ? text : name, phone };
}

function phoneIn(name: string): { readonly digits: string; readonly index: number } | undefined {
  const found = PHONE.exec(name);
  const digits = found?.[1] ?? '';
  const isPhone = COUNTRY_CODE.test(digits) || !passesModulus11(digits.replaceAll(/\D/gu, ''));
  return found !== null && isPhone ? { digits, index: found.index } : undefined;
}

/** A name, and after it another one of at least `least` characters, up to the end or a bracket. */
function named(name: string, opening: RegExp, least: number): { own: string; other: string } | undefined {
  for (const { 0: begin, index } of name.matchAll(opening)) {
    const rest = name.slice(index + begin.length).trimEnd();
    const other = /[)\]]$/u.test(rest) ? rest.slice(0, -1) : rest;
    if (other.length >= least && !/[)\]]/u.test(other))
      return { own: withoutEnd(name.slice(0, index), SEPARATORS), other };
  }
  return undefined;
}

function withoutEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** The rest, if it is still a name. */
const kept = (name: string, left: string): string =>
  /[\p{L}\p{N}]/u.test(left) ? left.trim().replaceAll(/\s+/gu, ' ') : name;
