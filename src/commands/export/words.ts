/** Names and numbers as words of a text. Pure. */

/**
 * A text by which names are compared, in whatever case and form of Unicode they are written. Each place in it is the same
 * place in the text's NFC: a letter whose lower case is longer stays as it is.
 */
export const fold = (text: string): string =>
  Array.from(text.normalize('NFC'), (letter) => {
    const lower = letter.toLowerCase();
    return lower.length === letter.length ? lower : letter;
  }).join('');

/** Whether one of the words stands in a text, in whatever case. */
export function hasWord(text: string, words: readonly string[]): boolean {
  const folded = fold(unescaped(text));
  return words.some((word) => placesOf(folded, fold(word)).next().done === false);
}

/** As JSON means it: some senders write no letter that is not ASCII, and what could not be read is kept as it came. */
const unescaped = (text: string): string =>
  text.replaceAll(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

/** Where a word stands in a text, with neither letter nor digit beside it: the n of a line break in JSON is no letter. */
export function* placesOf(text: string, word: string): Generator<number> {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
    const isApart = !isWordPart(text[at - 1]) || ESCAPE.test(text.slice(Math.max(0, at - 6), at));
    if (isApart && !isWordPart(text[at + word.length])) yield at;
  }
}

/** A control character in JSON, in lower case. */
const ESCAPE = /\\(?:[bfnrt]|u00[01][0-9a-f])$/u;

const isWordPart = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}]/u.test(character);
