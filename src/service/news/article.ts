/** News that others wrote: press releases and the gazette's bankruptcy notices. */
import { cleanHtml } from './clean-html.ts';
import { type DraftOf, subject } from './draft.ts';

/** The one item of an article: the gazette's where its source is the gazette's name, else press. */
export const article: DraftOf = (change, { gazetteProvider, pressProvider }) => {
  const found = change.updates.newArticle;
  if (found === undefined) return undefined;
  const isGazette = found.source?.trim().toLowerCase() === gazetteProvider.toLowerCase();
  return {
    type: isGazette ? 'Gazette' : 'PressAgency',
    headline: [found.headline],
    tagLine: found.tagline === null || found.tagline.trim() === '' ? subject(change) : [found.tagline],
    content: [{ kind: 'html', html: cleanHtml(found.content ?? '') }],
    provider: isGazette ? gazetteProvider : pressProvider,
    providerData: { sourceName: found.source, url: found.link, published: found.time },
    time: found.time,
    link: found.link,
  };
};
