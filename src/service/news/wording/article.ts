/** News that others wrote: press releases and the gazette's bankruptcy notices. */
import type { Change } from '../../changes/change.ts';
import { cleanHtml } from './clean-html.ts';
import { type DraftOf, subject } from './draft.ts';
import type { Phrase } from './phrase.ts';

/** An article is the gazette's if its source is the gazette's name; else it is press. */
export const article: DraftOf = (change, { gazetteProvider, pressProvider }) => {
  const found = change.updates.newArticle;
  if (found === undefined) return undefined;
  const isGazette = found.source?.trim().toLowerCase() === gazetteProvider.toLowerCase();
  const tagLine = found.tagline?.trim() ?? '';
  return {
    type: isGazette ? 'Gazette' : 'PressAgency',
    headline: withSubject(found.headline, change),
    tagLine: tagLine === '' ? subject(change) : withSubject(tagLine, change),
    content: [
      { kind: 'html', html: cleanHtml(found.content ?? '') },
      { kind: 'paragraph', text: ['Virksomhed: ', ...subject(change)] },
    ],
    provider: isGazette ? gazetteProvider : pressProvider,
    providerData: { sourceName: found.source, url: found.link, published: found.time },
    time: found.time,
    link: found.link,
  };
};

/** Replaces the first whole-word occurrence of the company's name by the entity. */
function withSubject(text: string, change: Change): Phrase {
  const name = change.name.toWellFormed().replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  // Matching costs the product of both lengths. No real name is this long.
  const isName = change.name !== '' && change.name.length <= 300;
  const found = !isName ? null : new RegExp(`(?<![\\p{L}\\p{N}])${name}(?![\\p{L}\\p{N}])`, 'iu').exec(text);
  if (found === null) return [text];
  const parts = [text.slice(0, found.index), ...subject(change), text.slice(found.index + found[0].length)];
  return parts.filter((part) => part !== '');
}
