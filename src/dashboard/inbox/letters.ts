/** A value beside another one: what differs is marked letter by letter, and letters that nobody sees are named. */
import { codeOf, compareLetters, oddityOf } from '../../protocol/text/letters.ts';
import { html, type Markup } from '../page/html.ts';
import type { Reader } from '../page/reader.ts';

/** Without `other` nothing is compared. */
export function lettersOf(reader: Reader, text: string, other: string | undefined): Markup {
  const parts = other === undefined ? [{ text, differs: false }] : compareLetters(text, other);
  return parts.map(({ text: part, differs }) => {
    const shown = named(reader, part, text);
    return differs ? html`<mark>${shown}</mark>` : shown;
  });
}

/** A part with a name behind each letter that is odd in the whole text. */
function named(reader: Reader, part: string, whole: string): Markup {
  const shown: Markup[] = [];
  let plain = '';
  for (const letter of part) {
    const oddity = oddityOf(letter, whole);
    // A letter that nobody sees would also hide, or turn, what stands beside it.
    if (oddity !== 'unseen') plain += letter;
    if (oddity === undefined) continue;
    shown.push(plain, html`<span class="letter" title=${reader.text(`letter.${oddity}`)}>${codeOf(letter)}</span>`);
    plain = '';
  }
  return [...shown, plain];
}
