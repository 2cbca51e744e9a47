/** Pages for sign-in, errors, and forms to confirm. */

import { isText, type TextKey } from '../texts/texts.ts';
import { type Fields, FORM_TOKEN, packFields, SECRET_FIELD } from './fields.ts';
import { html, type Markup } from './html.ts';
import type { PageBody } from './layout.ts';
import type { Reader } from './reader.ts';
import type { Visitor } from './visit.ts';

/** A page of a title and what to do. */
export const messagePage = (
  reader: Reader,
  { status, title, help }: { readonly status: number; readonly title: string; readonly help: Markup },
): PageBody => ({
  status,
  title,
  body: html`<p>${help}</p>
    <p><a href="/">${reader.text('error.back')}</a></p>`,
});

export const notFoundPage = (reader: Reader): PageBody =>
  messagePage(reader, { status: 404, title: reader.text('error.notFound'), help: reader.text('error.notFoundHelp') });

export const tooManyPage = (reader: Reader): PageBody =>
  messagePage(reader, { status: 429, title: reader.text('error.tooMany'), help: reader.text('error.tooManyHelp') });

/** What a person requested before they had to sign in. */
export interface Interrupted {
  /** A path of the dashboard. */
  readonly next: string;
  /** The fields of the form that was sent there; undefined for a page. */
  readonly fields?: Fields | undefined;
}

/** The ways to sign in, and the error of the last attempt. */
interface SignIn extends Interrupted {
  readonly error?: string | undefined;
  readonly status?: number;
  readonly hasSignOn?: boolean | undefined;
  /** Where to sign out of the issuer, for those who just signed out here. */
  readonly endSessionUrl?: string | undefined;
}

/** Asks for a token, or links to the issuer. */
export function loginPage(reader: Reader, formToken: string, page: SignIn): PageBody {
  const { next, fields, error, status = 200, hasSignOn = false, endSessionUrl } = page;
  const sent = { [FORM_TOKEN]: formToken, next, kept: fields && packFields(fields) };
  return {
    status,
    title: reader.text('login.title'),
    body: html`${fields && html`<p>${reader.text('login.ended')}</p>`}
      ${error && html`<p class="notice bad" role="alert" id="login-error">${error}</p>`}
      ${endSessionUrl && html`<p class="notice" role="status">${reader.text('signOn.out')} <a href=${endSessionUrl}>${reader.text('signOn.outThere')}</a></p>`}
      ${
        hasSignOn &&
        html`<form method="post" action="/login/oidc" class="narrow">
          ${hidden(sent)}
          <button class="primary" autofocus>${reader.text('signOn.submit')}</button>
        </form>
        <p class="quiet">${reader.text('signOn.orToken')}</p>`
      }
      <form method="post" action="/login" class="narrow">
        ${hidden(sent)}
        <label for="token">${reader.text('login.token')}</label>
        <input
          id="token"
          name="token"
          type="password"
          autocomplete="current-password"
          required
          autofocus=${!hasSignOn}
          aria-describedby=${error === undefined ? 'login-help' : 'login-error login-help'}
        />
        <p class="quiet" id="login-help">${reader.text('login.help')}</p>
        <button class=${hasSignOn ? undefined : 'primary'}>${reader.text('login.submit')}</button>
      </form>`,
  };
}

/** Redirects, with a link for browsers that do not. */
export const continuePage = (reader: Reader, address: string): PageBody => ({
  title: reader.text('continue.title'),
  body: html`<p><a href=${address}>${reader.text('continue.link')}</a></p>`,
});

/** Shows a form again that was sent under another session. The action runs only after the person confirms it. */
export function confirmPage(
  reader: Reader,
  formToken: string,
  { next, fields = [], status }: Interrupted & { readonly status: number },
): PageBody {
  const shown = fields.filter(([name]) => name !== FORM_TOKEN);
  return {
    status,
    title: reader.text('confirm.title'),
    body: html`<p>${reader.text('confirm.help')}</p>
      <form method="post" action=${next}>
        ${hidden({ [FORM_TOKEN]: formToken })}
        ${shown.map(([name, value]) => html`<input type="hidden" name=${name} value=${value} />`)}
        <table>
          <thead>
            <tr>
              <th scope="col">${reader.text('confirm.field')}</th>
              <th scope="col">${reader.text('confirm.value')}</th>
            </tr>
          </thead>
          <tbody>
            <tr><th scope="row">${reader.text('confirm.page')}</th><td>${pageOf(reader, next)}</td></tr>
            ${shown
              .filter(([name]) => !UNSEEN.has(name))
              .map(
                (field) =>
                  html`<tr><th scope="row">${labelOf(reader, field[0])}</th><td>${shownValue(reader, field)}</td></tr>`,
              )}
          </tbody>
        </table>
        <p class="actions">
          <button class="primary">${reader.text('confirm.submit')}</button>
          <a href="/">${reader.text('confirm.cancel')}</a>
        </p>
      </form>`,
  };
}

/** Fields that the page set itself: what somebody saw, and where they came from. */
const UNSEEN: ReadonlySet<string> = new Set(['revision', 'seen', 'back']);

const LABELS: Readonly<Record<string, TextKey>> = {
  verb: 'answers.answer',
  choice: 'review.about',
  kind: 'review.kind',
  provider: 'writes.provider',
  record: 'writes.record',
  entity: 'writes.company',
  company: 'match.number',
  other: 'match.other',
  property: 'writes.property',
  rule: 'writes.rule',
  event: 'writes.event',
  since: 'writes.since',
  until: 'writes.until',
  monitor: 'deliveries.monitor',
};

/** The name of the page in the navigation, if it has one. */
function pageOf(reader: Reader, path: string): string {
  const key = `nav.${/^\/(\w+)/u.exec(path)?.[1] ?? 'overview'}`;
  return isText(key) ? reader.text(key) : path;
}

function labelOf(reader: Reader, name: string): string {
  const key = LABELS[name];
  return key === undefined ? name : reader.text(key);
}

function shownValue(reader: Reader, [name, value]: Fields[number]): string {
  if (name === SECRET_FIELD) return '•••';
  // The revision of the entry comes before its id.
  if (name === 'choice') return value.slice(value.indexOf(' ') + 1);
  const key = `${name}.${value}`;
  return (name === 'verb' || name === 'kind') && isText(key) ? reader.text(key) : value;
}

/** The visitor's role is too low. */
export const rolePage = (reader: Reader, needed: Visitor['role']): PageBody =>
  messagePage(reader, {
    status: 403,
    title: reader.text('error.refused'),
    help: reader.text('error.role', { role: reader.text(`role.${needed}`) }),
  });

/** Hidden fields; leaves out those without a value. */
export const hidden = (values: Readonly<Record<string, string | undefined>>): Markup =>
  Object.entries(values).map(
    ([name, value]) => value !== undefined && html`<input type="hidden" name=${name} value=${value} />`,
  );
