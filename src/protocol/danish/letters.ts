/** Folds letters as people, keyboards and broken exports write them. */

const CP1252 = new TextDecoder('windows-1252');
const UTF8 = new TextDecoder('utf-8', { fatal: true });
const BYTES = new Map(Array.from({ length: 256 }, (_, byte) => [CP1252.decode(Uint8Array.of(byte)), byte]));
/** UTF-8 read as the Windows code page: consecutive characters outside ASCII. */
const RUIN = /[\u00c2-\u00c5\u00e2][^ -~]+/gu;
/** A text may pass through several such systems. */
const TIMES = 3;

/** Danish letters of DOS code page 865, read as Windows. */
const DOS: Readonly<Record<string, string>> = { '›': 'ø', '†': 'å', '‘': 'æ' };
const DOS_INSIDE = /(?<=\p{L})[›†‘](?=\p{Ll})/gu;

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  quot: '"',
  nbsp: ' ',
  aelig: 'æ',
  oslash: 'ø',
  aring: 'å',
};
const ENTITY = /&(amp|quot|nbsp|aelig|oslash|aring|#39);/giu;

/** Restores letters of UTF-8 or DOS text that was read as Windows: `Ã¸` as `ø`. */
function repairLetters(text: string): string {
  let repaired = text;
  for (let time = 0; time < TIMES; time += 1) {
    const next = repaired.replace(RUIN, repairRun);
    if (next === repaired) break;
    repaired = next;
  }
  return repaired === text ? text.replace(DOS_INSIDE, (letter) => DOS[letter] ?? letter) : repaired;
}

function repairRun(run: string): string {
  const bytes = Array.from(run, (letter) => BYTES.get(letter));
  if (bytes.includes(undefined)) return run;
  try {
    return UTF8.decode(Uint8Array.from(bytes, (byte) => byte ?? 0));
  } catch {
    return run;
  }
}

const PAIRS: Readonly<Record<string, string>> = { æ: 'a', ø: 'o', å: 'a', ae: 'a', oe: 'o', aa: 'a', ß: 'ss', ð: 'd' };

/**
 * Lower-cases a text and gives one spelling to what Danes spell in several ways: `Sørensen`, `Soerensen` and `Sorensen`
 * become `sorensen`, `Århus` and `Aarhus` become `arhus`. To compare, never to show.
 */
export const foldLetters = (text: string): string => {
  const read = text.includes('&')
    ? text.replace(ENTITY, (_, name: string) => ENTITIES[name.toLowerCase()] ?? "'")
    : text;
  return ASCII.test(read) ? foldPairs(read.toLowerCase()) : foldAll(read);
};

const ASCII = /^[ -~]*$/u;
const foldPairs = (text: string): string => text.replace(/ae|oe|aa/gu, (letters) => PAIRS[letters] ?? letters);

const foldAll = (text: string): string =>
  repairLetters(text)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[æøåßð]|ae|oe|aa/gu, (letters) => PAIRS[letters] ?? letters)
    .normalize('NFD')
    .replace(/\p{M}/gu, '');

const SPELLED: Readonly<Record<string, string>> = { aa: 'å', ae: 'æ', oe: 'ø', ä: 'æ', ö: 'ø' };
const DANISH = /[æøå]/u;

const spelledWords = (text: string): readonly string[] =>
  repairLetters(text)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/aa|ae|oe|[äö]/gu, (letters) => SPELLED[letters] ?? letters)
    .match(/[\p{L}\p{N}]+/gu) ?? [];

/** Whether a word has a Danish letter and the other text has the same word with a plain one: Båd, and Bad. */
export function hasOtherLetters(text: string, other: string): boolean {
  const words = spelledWords(text).filter((word) => DANISH.test(word));
  if (words.length === 0) return false;
  const others = Map.groupBy(spelledWords(other), foldLetters);
  return words.some((word) => others.get(foldLetters(word))?.includes(word) === false);
}
