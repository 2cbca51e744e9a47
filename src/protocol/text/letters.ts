/** Compares two texts letter by letter, and finds letters that are invisible or look like others. Pure. */

/** A part of a text; `differs` if the other text does not have it in this place. */
export interface ComparedPart {
  readonly text: string;
  readonly differs: boolean;
}

/** The most letters to compare one by one, without the equal beginning and end. */
const COMPARED = 200;

/** Splits a text into parts that another text has and parts that it lacks. */
export function compareLetters(own: string, other: string): readonly ComparedPart[] {
  const [a, b] = [Array.from(own), Array.from(other)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const [mine, theirs] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const common = mine.length > COMPARED || theirs.length > COMPARED ? new Set<number>() : commonOf(mine, theirs);
  // Texts with few common letters count as different throughout: single common letters mean nothing.
  const isApart = common.size * 3 < mine.length;
  const differs = a.map((_, at) => at >= start && at < a.length - end && (isApart || !common.has(at - start)));
  const parts: { text: string; differs: boolean }[] = [];
  for (const [at, letter] of a.entries()) {
    const last = parts.at(-1);
    const isMarked = differs[at] ?? false;
    if (last !== undefined && last.differs === isMarked) last.text += letter;
    else parts.push({ text: letter, differs: isMarked });
  }
  return parts;
}

/** The positions in `a` of the most letters that `b` has in the same order. */
function commonOf(a: readonly string[], b: readonly string[]): ReadonlySet<number> {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  const lengthAt = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] =
        a[i] === b[j] ? lengthAt(i + 1, j + 1) + 1 : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1));
  const common = new Set<number>();
  for (let i = 0, j = 0; i < a.length && j < b.length; )
    if (a[i] === b[j]) {
      common.add(i);
      i += 1;
      j += 1;
    } else if (lengthAt(i + 1, j) >= lengthAt(i, j + 1)) i += 1;
    else j += 1;
  return common;
}

/** Default_Ignorable_Code_Point includes fillers and joiners. */
const UNSEEN = /\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}|\p{Default_Ignorable_Code_Point}/u;
const OTHER_SPACE = /(?! )\p{Zs}/u;
const OTHER_SCRIPT = /[\p{Script=Cyrillic}\p{Script=Greek}]/u;
const FULL_WIDTH = /[\uff01-\uff5e]/u;
const LATIN = /\p{Script=Latin}/u;
const COMBINING = /\p{M}/u;

/** What is odd about a letter. */
export type Oddity = 'unseen' | 'space' | 'alike' | 'combining';

/** What is odd about a letter of a text; undefined if nothing is. Letters of another script are odd amid Latin ones. */
export function oddityOf(letter: string, text: string): Oddity | undefined {
  if (OTHER_SPACE.test(letter)) return 'space';
  if (UNSEEN.test(letter)) return 'unseen';
  if (FULL_WIDTH.test(letter) || (OTHER_SCRIPT.test(letter) && LATIN.test(text))) return 'alike';
  // A letter with a combining mark that has a composed form.
  return COMBINING.test(letter) && text.normalize('NFC') !== text ? 'combining' : undefined;
}

/** The number of a letter, as people look it up: `U+00A0`. */
export const codeOf = (letter: string): string =>
  `U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
