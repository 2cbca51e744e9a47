/** The language that a person chooses for their browser, before any sign-in and after it. */

import type { Server } from '../../http/server/server.ts';
import { keepLanguage } from '../access/session-cookie.ts';
import { fieldsOf, fieldValue } from '../page/fields.ts';
import { html } from '../page/html.ts';
import { LANGUAGES, type Language, type Reader } from '../page/reader.ts';
import { HIDDEN } from '../routes/routes.ts';
import { ownPath } from './login.ts';

/** Where a request comes from that may choose: one of our pages, or the address bar. */
const OURS: ReadonlySet<string> = new Set(['same-origin', 'none']);

/** Adds the addresses that choose; a link on another site chooses nothing. */
export function addLanguages(app: Server): void {
  app.get('/language/:language', { ...HIDDEN, exposeHeadRoute: false }, (request, reply) => {
    const asked = fieldValue(fieldsOf(request.params), 'language');
    const language = LANGUAGES.find((each) => each === asked);
    const isOurs = OURS.has(String(request.headers['sec-fetch-site'] ?? 'none'));
    if (language !== undefined && isOurs) keepLanguage(request, reply, language);
    return reply.redirect(ownPath(fieldValue(fieldsOf(request.query), 'next')), 303);
  });
}

/** Each in its own words: whoever needs it cannot read the other. */
const NAMES: Readonly<Record<Language, string>> = { en: 'English', da: 'Dansk' };

/** The choice, on a page that is shown again in what was chosen. */
export const languageChoice = (reader: Reader, path: string) =>
  html`<p class="actions">
    <span class="quiet">${reader.text('language.choose')}</span>
    ${LANGUAGES.map(
      (each) =>
        html`<a
          href=${`/language/${each}?next=${encodeURIComponent(path)}`}
          lang=${each}
          aria-current=${each === reader.language ? 'true' : undefined}
          >${NAMES[each]}</a
        >`,
    )}
  </p>`;
