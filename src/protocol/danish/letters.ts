/** Letters as people, keyboards and broken exports write them. */

const CP1252 = new TextDecoder('windows-1252');
const UTF8 = new TextDecoder('utf-8', { fatal: true });
/** The byte of each character of Windows' code page. */
const BYTES = new Map(Array.from({ length: 256 }, (_, byte) => [CP1252.decode(Uint8Array.of(byte)), byte]));
const RUIN = /[\u00c2-\u00c5][^ -~]/u;

/** Danish letters in DOS's code page 865 that were read as Windows'. */
const DOS: Readonly<Record<string, string>> = { '›': 'ø', '†': 'å', '‘': 'æ' };
const DOS_INSIDE = /(?<=\p{L})[›†‘](?=\p{Ll})/gu;

/** The text with the letters it had before somebody read UTF-8, or DOS's code page, as Windows' one: `Ã¸` as `ø`. */
function repairLetters(text: string): string {
  if (!RUIN.test(text)) return text.replace(DOS_INSIDE, (letter) => DOS[letter] ?? letter);
  const bytes = Array.from(text, (letter) => BYTES.get(letter));
  if (bytes.includes(undefined)) return text;
  try {
    return UTF8.decode(Uint8Array.from(bytes, (byte) => byte ?? 0));
  } catch {
    // Only a part of it was ruined: what cannot be read back stays.
    return text;
  }
}

const PAIRS: Readonly<Record<string, string>> = { æ: 'a', ø: 'o', å: 'a', ae: 'a', oe: 'o', aa: 'a', ß: 'ss', ð: 'd' };

/**
 * The text in lower case, with one spelling for what Danes write in several: `Sørensen`, `Soerensen` and `Sorensen` become
 * `sorensen`, `Århus` and `Aarhus` become `arhus`. For comparing, never for showing.
 */
export const foldLetters = (text: string): string => (ASCII.test(text) ? foldPairs(text.toLowerCase()) : foldAll(text));

const ASCII = /^[ -~]*$/u;
const foldPairs = (text: string): string => text.replace(/ae|oe|aa/gu, (letters) => PAIRS[letters] ?? letters);

const foldAll = (text: string): string =>
  repairLetters(text)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[æøåßð]|ae|oe|aa/gu, (letters) => PAIRS[letters] ?? letters)
    .normalize('NFD')
    .replace(/\p{M}/gu, '');
