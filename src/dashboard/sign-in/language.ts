/** The language that a person chooses for their browser, before or after signing in. */

import type { Server } from '../../http/server/server.ts';
import { keepLanguage } from '../access/session-cookie.ts';
import { fieldsOf, fieldValue } from '../page/fields.ts';
import { html } from '../page/html.ts';
import { LANGUAGES, type Language, type Reader } from '../page/reader.ts';
import { HIDDEN } from '../routes/routes.ts';
import { ownPath } from './login.ts';

/** A choice must come from a page of the dashboard, or from the address bar. */
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

/** Each in its own language, for people who cannot read the other. */
const NAMES: Readonly<Record<Language, string>> = { en: 'English', da: 'Dansk' };

/** The choice, on a page that then appears in that language. */
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
