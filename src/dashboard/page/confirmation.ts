/** The page that says what an action will do, with the form that does it. */
import type { VNode } from 'preact';
import { FORM_TOKEN } from './fields.ts';
import { html, type Markup } from './html.ts';
import type { PageBody } from './layout.ts';
import { hidden } from './messages.ts';
import { noDefaultAnswer } from './parts.ts';
import type { Visit } from './visit.ts';

export interface Confirmation {
  readonly title: string;
  /** What will happen, and further fields. */
  readonly help: Markup;
  /** The path of the action. */
  readonly action: string;
  readonly fields?: Readonly<Record<string, string | undefined>>;
  readonly submit: string;
  /** Where to go instead. */
  readonly back: string;
}

/** Asks before something is deleted, sent or disabled. */
export const confirmationPage = (
  { reader, formToken }: Visit,
  { title, help, action, fields = {}, submit, back }: Confirmation,
): PageBody => ({
  title,
  body: html`<form method="post" action=${action}>
    ${hidden({ [FORM_TOKEN]: formToken, ...fields })} ${noDefaultAnswer()}
    ${help}
    <p class="actions">
      <button class="primary">${submit}</button>
      <a href=${back}>${reader.text('action.cancel')}</a>
    </p>
  </form>`,
});

/** A secret that no later page shows. */
export const secretNotice = (
  { reader }: Visit,
  label: string,
  secret: string,
): VNode => html`<div class="notice warn" role="status">
  <p><strong>${reader.text('secret.once')}</strong></p>
  <p>${label}: <code class="secret">${secret}</code></p>
</div>`;
