/** Splits a company's name into comparable parts. */
import { trimEndOf } from '../text/trim.ts';
import { abbreviated } from './abbreviations.ts';
import { foldLetters } from './letters.ts';

export interface CompanyName {
  /** Its words without the company form, folded, with one spelling for each abbreviation. */
  readonly words: readonly string[];
  /** The words joined: `nordlysmobler`. Empty if the name has no letter and no digit. */
  readonly compact: string;
  readonly form: string | null;
  readonly saysDenmark: boolean;
  /** The folded owner after `v/`; null without one. */
  readonly owner: string | null;
  /** The words that end in a dot: `tomrerforr` of `Tømrerforr.` */
  readonly shortened: readonly string[];
}

/** Longer names are compared by their beginning. */
const LONGEST = 200;

const FORMS: Readonly<Record<string, string>> = {
  as: 'as',
  aktieselskab: 'as',
  aktieselskabet: 'as',
  aps: 'aps',
  anpartsselskab: 'aps',
  anpartsselskabet: 'aps',
  is: 'is',
  interessentskab: 'is',
  ks: 'ks',
  kommanditselskab: 'ks',
  ps: 'ps',
  partnerselskab: 'ps',
  ivs: 'ivs',
  smba: 'smba',
  fmba: 'fmba',
  amba: 'amba',
};

const FOREIGN_FORMS: ReadonlySet<string> = new Set(
  'gmbh ltd limited llc inc plc ab oy sarl sas srl bv nv kft spzoo'.split(' '),
);

/** Two letters are a form only at the end of a name: `is` and `as` are words, too. */
const isShort = (form: string): boolean => form.length === 2;

const JOINING: ReadonlySet<string> = new Set(['og', 'and', 'the']);
const DENMARK: ReadonlySet<string> = new Set(['danmark', 'denmark', 'dk']);

const OWNER = /\s(?:v ?[/.:]|ved )/u;
/** Letters that a system lost: `S?rensen`, `S\ufffdrensen`. A question mark counts only before a letter. */
const LOST = /\ufffd|\?(?=\p{L})/gu;
export const LOST_LETTER = '\ufffd';
/** `A / S` anywhere in a name; with dots only at its end, because names begin with `P.S.` */
const SLASHED_FORM = /(?<![\p{L}\p{N}.])([aikp]) ?\/ ?s(?![\p{L}\p{N}])/u;
const DOTTED_FORM = /(?<![\p{L}\p{N}.])([aikp]) ?\. ?(s)(?=\.?$)/u;
/** `E/F` and `A/B`, the forms of houses. */
const HOUSE_FORM = /(?<![\p{L}\p{N}])([ea]) ?\/ ?([bf])(?![\p{L}\p{N}])/gu;
/** Names without these marks need no further steps. */
const MARKED = /[./?'’´`\ufffd]/u;
const DOTTED = /^(?:\p{L}\.)+\p{L}?,?$/u;
/** Suffixes of an insolvency or a branch, which do not belong to the name. */
const STATUS = /[ ,(-](?:under|i) (?:frivillig )?(?:konkurs|likvidation|tvangsoplosning|rekonstruktion)\b/u;
const BRANCH = /[ ,(-](?:dansk |danish )?(?:filial|branch)(?: (?:af|of) |$)/u;
const PARTING = ' "*,;:_-(';
/** Shorter words with a dot are initials and numbers. */
const SHORTEST = 3;

export function readCompanyName(text: string): CompanyName {
  const folded = foldLetters(text.slice(0, LONGEST)).replace(/\s+/gu, ' ').trim();
  const behind = OWNER.exec(folded);
  const owner = behind === null ? '' : folded.slice(behind.index + behind[0].length).trim();
  const { rest, slashed } = withoutSlashed(bareName(behind === null ? folded : folded.slice(0, behind.index)));
  const plain = joinedLetters(rest);
  const tokens = plain.match(/[\p{L}\p{N}\ufffd]+/gu) ?? [];
  const form = slashed === null ? formOf(tokens) : { form: slashed, at: -1 };
  // `Anpartsselskabet af 2007 ApS` has its form twice.
  const isTwice = (token: string, at: number): boolean =>
    at === 0 && form !== undefined && !isShort(token) && FORMS[token] === form.form;
  const named = tokens.filter((token, at) => at !== form?.at && !(tokens.length > 2 && isTwice(token, at)));
  const meant = named.filter((word) => !JOINING.has(word));
  const local = meant.filter((word) => !DENMARK.has(word));
  const words = (local.length > 0 ? local : meant.length > 0 ? meant : named).map(abbreviated);
  return {
    words,
    compact: words.join(''),
    form: form?.form ?? null,
    saysDenmark: local.length > 0 && local.length < meant.length,
    owner: owner === '' ? null : owner,
    shortened: shortenedIn(plain).map(abbreviated),
  };
}

function withoutSlashed(name: string): { readonly rest: string; readonly slashed: string | null } {
  const letter = name.includes('/') ? SLASHED_FORM.exec(name)?.[1] : undefined;
  if (letter === undefined) return { rest: name, slashed: null };
  const rest = name.replace(SLASHED_FORM, ' ');
  // A name that is only a form keeps it as a word.
  return /[\p{L}\p{N}]/u.test(rest)
    ? { rest, slashed: `${letter}s` }
    : { rest: name.replace(SLASHED_FORM, '$1s'), slashed: null };
}

/** Joins letters that belong together, and removes marks that separate no words. */
const joinedLetters = (name: string): string =>
  !MARKED.test(name)
    ? name
    : name
        .replace(HOUSE_FORM, '$1$2')
        .replace(DOTTED_FORM, '$1$2')
        .replace(/(?<![\p{L}\p{N}.])a\.?p\.?s\.?(?![\p{L}\p{N}])/gu, 'aps')
        .split(' ')
        .map((word) => (DOTTED.test(word) ? word.replaceAll('.', '') : word))
        .join(' ')
        .replace(/['’´`]/gu, '')
        .replace(LOST, LOST_LETTER);

function bareName(text: string): string {
  const bare = [STATUS, BRANCH].reduce(upTo, trimEndOf(text, PARTING));
  return bare === '' ? text : bare;
}

const upTo = (text: string, behind: RegExp): string =>
  trimEndOf(text.slice(0, behind.exec(text)?.index ?? text.length), PARTING);

const shortenedIn = (name: string): readonly string[] =>
  name
    .split(/[ ,]/u)
    .filter((word) => word.endsWith('.'))
    .flatMap(
      (word) =>
        word
          .slice(0, -1)
          .split(/[^\p{L}]/u)
          .at(-1) ?? [],
    )
    .filter((word) => word.length >= SHORTEST);

function formOf(tokens: readonly string[]): { readonly form: string; readonly at: number } | undefined {
  for (let at = tokens.length - 1; at >= 0; at -= 1) {
    const token = tokens[at] ?? '';
    const form = FOREIGN_FORMS.has(token) ? token : FORMS[token];
    const isPlaced =
      form !== undefined && (at === tokens.length - 1 || (!isShort(token) && FORMS[token] !== undefined));
    // A name that is only a form keeps it as a word.
    if (form !== undefined && isPlaced && tokens.length > 1) return { form, at };
  }
  return undefined;
}

export const isForeignForm = (form: string | null): boolean => form !== null && FOREIGN_FORMS.has(form);
