/** Sentences that the commands and the log share with the pages: stored in English, with a Danish translation. */

import SAID from '../texts/said.da.json' with { type: 'json' };
import { filled, readSentence, type Sentence, valuesIn } from '../texts/sentence.ts';
import { html, type Markup } from './html.ts';
import type { Reader } from './reader.ts';

const lengthOf = ({ around }: Sentence): number => around.join('').length;

/** Of several sentences that fit, the one with the most fixed letters comes first. */
const SENTENCES = Object.entries(SAID)
  .map(readSentence)
  .toSorted((a, b) => lengthOf(b) - lengthOf(a));

function danish(text: string): string | undefined {
  for (const sentence of SENTENCES) {
    const values = valuesIn(text, sentence);
    if (values === undefined) continue;
    return filled(sentence, (name) => {
      const value = values.get(name) ?? '';
      return danish(value) ?? value;
    });
  }
  return undefined;
}

/** A known sentence in the reader's language; any other text unchanged and marked as English. */
export function said(reader: Reader, text: string | null, shown: (text: string) => Markup = (words) => words): Markup {
  if (text === null) return null;
  if (reader.language === 'en') return shown(text);
  const translated = danish(text);
  return translated === undefined ? html`<span lang="en">${shown(text)}</span>` : shown(translated);
}

/** As {@link said}, with links for addresses in `<>`. */
export const saidWithLinks = (reader: Reader, text: string): Markup => said(reader, text, linked);

const linked = (text: string): Markup =>
  text
    .split(/<(https:\/\/[^<>\s]+)>/u)
    .map((part, at) => (at % 2 === 0 ? part : html`<a href=${part} rel="noreferrer"><code>${part}</code></a>`));
