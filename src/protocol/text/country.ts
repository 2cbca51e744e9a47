/** Countries as CRMs store them: by code, or by their Danish or English name. */

/** Folded spellings to ISO 3166 codes. Built at the first use, which takes some milliseconds. */
let codes: ReadonlyMap<string, string> | undefined;

export function countryCodeOf(spelled: string): string | undefined {
  codes ??= readCodes();
  return codes.get(fold(spelled));
}

export const englishCountry = (code: string): string | undefined =>
  /^[A-Z]{2}$/u.test(code) ? NAMES[0]?.of(code) : undefined;

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];

const namesIn = (language: string, style: 'long' | 'short') =>
  new Intl.DisplayNames([language], { type: 'region', fallback: 'none', style });

const NAMES = [namesIn('en', 'long'), namesIn('da', 'long'), namesIn('en', 'short'), namesIn('da', 'short')];

function readCodes(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const code of LETTERS.flatMap((first) => LETTERS.map((second) => `${first}${second}`))) {
    // UK becomes GB, and a withdrawn code its successor.
    const [, current = code] = Intl.getCanonicalLocales(`und-${code}`)[0]?.split('-') ?? [];
    for (const name of NAMES.map((names) => names.of(code)))
      if (name !== undefined) {
        found.set(fold(code), current);
        found.set(fold(name), current);
      }
  }
  return found;
}

const fold = (text: string): string => text.normalize('NFC').replace(/\s+/gu, ' ').trim().toLowerCase();
