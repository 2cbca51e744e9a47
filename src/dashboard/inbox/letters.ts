/** Marks the letters in which two values differ, and names invisible ones. */
import { codeOf, compareLetters, oddityOf } from '../../protocol/text/letters.ts';
import { html, type Markup } from '../page/html.ts';
import type { Reader } from '../page/reader.ts';

/** Compares nothing without `other`. */
export function lettersOf(reader: Reader, text: string, other: string | undefined): Markup {
  const parts = other === undefined ? [{ text, differs: false }] : compareLetters(text, other);
  return parts.map(({ text: part, differs }) => {
    const shown = named(reader, part, text);
    return differs ? html`<mark>${shown}</mark>` : shown;
  });
}

/** A part, with a name after each letter that is odd in the whole text. */
function named(reader: Reader, part: string, whole: string): Markup {
  const shown: Markup[] = [];
  let plain = '';
  for (const letter of part) {
    const oddity = oddityOf(letter, whole);
    // An invisible letter could also hide or reverse the letters next to it.
    if (oddity !== 'unseen') plain += letter;
    if (oddity === undefined) continue;
    shown.push(plain, html`<span class="letter" title=${reader.text(`letter.${oddity}`)}>${codeOf(letter)}</span>`);
    plain = '';
  }
  return [...shown, plain];
}
