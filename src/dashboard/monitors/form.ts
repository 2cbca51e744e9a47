import type { VNode } from 'preact';
import type { Refused } from '../../operations/definition/operation.ts';
import { EVENT_NAMES } from '../../protocol/events.ts';
import { type WireOptions, wireNameOf } from '../../protocol/payload.ts';
import { FORM_TOKEN, SECRET_FIELD } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import { hidden } from '../page/messages.ts';
import type { Reader } from '../page/reader.ts';
import { said } from '../page/said.ts';
import type { Visit } from '../page/visit.ts';
import { METHODS, type MonitorTexts } from './form-fields.ts';

export interface MonitorForm {
  readonly texts: MonitorTexts;
  /** How to name events. */
  readonly wire: WireOptions;
  readonly action: string;
  readonly back: string;
  readonly submit: string;
  readonly hiddenFields: Readonly<Record<string, string>>;
  /** The target of a job is always its items. */
  readonly isJob: boolean;
  /** An existing monitor may keep its credentials. */
  readonly isNew: boolean;
  /** Fields of one of the forms only. */
  readonly more?: Markup;
  /** The errors in the form that was sent. */
  readonly issues?: Refused['issues'];
}

/** The form of a new or existing monitor or job. It repeats what was typed, except secrets. */
export function monitorForm({ reader, formToken }: Visit, form: MonitorForm): VNode {
  const { texts, wire, action, back, submit, hiddenFields, isJob, isNew, more, issues = [] } = form;
  return html`${issues.length > 0 && problems(reader, issues)}
    <form method="post" action=${action} class="stacked">
      ${hidden({ [FORM_TOKEN]: formToken, ...hiddenFields })} ${more}
      ${textField(reader, { name: 'name', value: texts.name, isRequired: !isJob || !isNew, help: isJob && isNew })}
      ${!isJob && select(reader, { name: 'target', value: texts.target, options: ['items', 'all'] })}
      ${textField(reader, { name: 'url', value: texts.url, help: true })}
      ${credentials(reader, texts, isNew)} ${events(reader, texts, wire)}
      ${
        !isJob &&
        html`<div>
            <label for="emails">${reader.text('form.emails')}</label>
            <textarea id="emails" name="emails" rows="3" aria-describedby="emails-help">${texts.emails}</textarea>
            <p class="quiet" id="emails-help">${reader.text('form.emailsHelp')}</p>
          </div>
          ${select(reader, { name: 'mailFrequency', value: texts.mailFrequency, options: ['daily', 'immediate'] })}`
      }
      ${textField(reader, { name: 'schedule', value: texts.schedule, help: true })}
      ${textField(reader, { name: 'postsPerMinute', value: texts.postsPerMinute, help: true })}
      ${
        isNew &&
        html`<div class="choice">
          <input type="checkbox" id="inactive" name="inactive" value="yes" />
          <label for="inactive">${reader.text('form.inactive')}</label>
        </div>`
      }
      <p class="actions">
        <button class="primary">${submit}</button>
        <a href=${back}>${reader.text('action.cancel')}</a>
      </p>
    </form>`;
}

const problems = (reader: Reader, issues: Refused['issues']): VNode => html`<div class="notice bad" role="alert">
  <p>${reader.text('form.invalid')}</p>
  <ul>
    ${issues.map(({ path, message }) => html`<li><code>${path.slice(1)}</code> ${said(reader, message)}</li>`)}
  </ul>
</div>`;

type TextName = 'name' | 'url' | 'schedule' | 'postsPerMinute' | 'key' | 'provider';
const HELP = {
  name: 'form.nameHelp',
  url: 'form.urlHelp',
  schedule: 'form.scheduleHelp',
  postsPerMinute: 'form.postsPerMinuteHelp',
} as const;
const isHelped = (name: string): name is keyof typeof HELP => Object.hasOwn(HELP, name);

export function textField(
  reader: Reader,
  {
    name,
    value,
    isRequired = false,
    help = false,
  }: { readonly name: TextName; readonly value: string; readonly isRequired?: boolean; readonly help?: boolean },
): VNode {
  const helpText = help && isHelped(name) ? reader.text(HELP[name]) : undefined;
  return html`<div>
    <label for=${name}>${reader.text(`form.${name}`)}</label>
    <input
      id=${name}
      name=${name}
      value=${value}
      required=${isRequired}
      autocomplete="off"
      aria-describedby=${helpText && `${name}-help`}
    />
    ${helpText && html`<p class="quiet" id=${`${name}-help`}>${helpText}</p>`}
  </div>`;
}

type Option = 'items' | 'all' | 'daily' | 'immediate' | 'keep' | (typeof METHODS)[number];

const select = (
  reader: Reader,
  {
    name,
    value,
    options,
  }: {
    readonly name: 'target' | 'mailFrequency' | 'method';
    readonly value: string;
    readonly options: readonly Option[];
  },
): VNode => html`<div>
  <label for=${name}>${reader.text(`form.${name}`)}</label>
  <select id=${name} name=${name}>
    ${options.map(
      (option) =>
        html`<option value=${option} selected=${value === option}>${reader.text(`option.${option}`)}</option>`,
    )}
  </select>
</div>`;

function credentials(reader: Reader, texts: MonitorTexts, isNew: boolean): VNode {
  return html`<details class="group" open=${texts.method !== 'None' && texts.method !== 'keep'}>
    <summary>${reader.text('form.credentials')}</summary>
    <p class="quiet">${reader.text('form.credentialsHelp')}</p>
    ${select(reader, { name: 'method', value: texts.method, options: isNew ? METHODS : ['keep', ...METHODS] })}
    ${textField(reader, { name: 'key', value: texts.key })}
    <div>
      <label for="secret">${reader.text('form.secret')}</label>
      <input id="secret" name=${SECRET_FIELD} type="password" autocomplete="off" />
    </div>
  </details>`;
}

function events(reader: Reader, texts: MonitorTexts, wire: WireOptions): VNode {
  const chosen = new Set(texts.events.split(' '));
  const isAll = texts.scope !== 'chosen';
  return html`<fieldset>
    <legend>${reader.text('form.events')}</legend>
    <div class="choice">
      <input type="radio" id="scope-all" name="scope" value="all" checked=${isAll} />
      <label for="scope-all">${reader.text('form.allEvents')}</label>
    </div>
    <div class="choice">
      <input type="radio" id="scope-chosen" name="scope" value="chosen" checked=${!isAll} />
      <label for="scope-chosen">${reader.text('form.chosenEvents')}</label>
    </div>
    <details open=${!isAll}>
      <summary>${reader.text('form.eventList')}</summary>
      <div class="choices">
        ${EVENT_NAMES.map(
          (event) => html`<div class="choice">
            <input type="checkbox" id=${`event-${event}`} name="events" value=${event} checked=${chosen.has(event)} />
            <label for=${`event-${event}`}><code>${wireNameOf(event, wire)}</code></label>
          </div>`,
        )}
      </div>
    </details>
  </fieldset>`;
}
