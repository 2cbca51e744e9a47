/** The questions of a schema as fields of a form. CSS shows the fields of a chosen option: no script is needed. */
import type { VNode } from 'preact';
import { stringify } from 'yaml';
import type { ConfigProblem } from '../../config/schema/fill.ts';
import {
  type ChoiceQuestion,
  isNeeded,
  type Question,
  type QuestionPart,
  type Settings,
  valueAt,
  withSuffix,
} from '../../setup/questions.ts';
import { type Fields, fieldValue } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import type { Reader } from '../page/reader.ts';
import { said, saidWithLinks } from '../page/said.ts';
import { isText } from '../texts/texts.ts';

/** What a form needs in addition to its questions. */
export interface FormState {
  readonly reader: Reader;
  readonly settings: Settings;
  readonly problems: readonly ConfigProblem[];
  /** Whether the form was answered before; the fields of a new form are not errors. */
  readonly isAnswered: boolean;
}

/** Keeps the names apart from those of other fields. */
const PREFIX = 's.';

/** Reads an answer from the fields of {@link questionFields}. */
export const answerIn =
  (fields: Fields) =>
  (name: string): string =>
    fieldValue(fields, PREFIX + name);

/** The required fields, then the others, folded. */
export function questionFields(form: FormState, parts: readonly QuestionPart[]): Markup {
  const others = parts.filter((part) => !isNeeded(part));
  return html`${parts.filter(isNeeded).map((part) => partField(form, part))}
    ${
      others.length > 0 &&
      html`<details open=${others.some((part) => hasProblem(form, part)) || undefined}>
        <summary>${form.reader.text('setup.more')}</summary>
        ${others.map((part) => partField(form, part))}
      </details>`
    }`;
}

export const unfolded = (form: FormState, parts: readonly QuestionPart[]): Markup =>
  html`${parts.map((part) => partField(form, part))}`;

/** Problems that no field shows. */
export const otherProblems = (form: FormState, parts: readonly QuestionPart[]): readonly ConfigProblem[] => {
  const shown = parts.flatMap((part) => pathsOf(form, part));
  return form.problems.filter(({ path }) => !shown.includes(pathWithout(path)));
};

const pathWithout = (path: string): string => path.replace(/_FILE$/u, '');

const pathsOf = (form: FormState, part: QuestionPart): readonly string[] => {
  if (part.kind === 'group') return part.parts.flatMap((each) => pathsOf(form, each));
  const own = part.path.join('.');
  if (part.kind !== 'choice') return [own];
  const chosen = part.options.find(({ value }) => value === textOf(form, part));
  return [own, ...(chosen?.parts ?? []).flatMap((each) => pathsOf(form, each))];
};

const hasProblem = (form: FormState, part: QuestionPart): boolean => {
  const paths = pathsOf(form, part);
  return form.isAnswered && form.problems.some(({ path }) => paths.includes(pathWithout(path)));
};

function partField(form: FormState, part: QuestionPart): VNode {
  const { reader } = form;
  if (part.kind === 'group')
    return html`<fieldset>
      <legend>${labelOf(reader, part)}</legend>
      ${part.about !== '' && html`<p class="quiet">${said(reader, part.about)}</p>`}
      ${part.parts.map((each) => partField(form, each))}
    </fieldset>`;
  if (part.kind !== 'choice') return part.kind === 'flag' ? flagField(form, part) : textField(form, part);
  return part.options.some(({ parts }) => parts.length > 0) ? variants(form, part) : selectField(form, part);
}

/** The name of a setting: a text if it is known, else the words of its key. */
function labelOf(reader: Reader, { path }: Pick<QuestionPart, 'path'>): string {
  const name = path.at(-1) ?? '';
  const key = `setting.${name}`;
  if (isText(key)) return reader.text(key);
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/gu, '$1 $2')
    .replaceAll(/[_-]+/gu, ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The value of a question for its field. */
function textOf({ settings }: FormState, { path, preset }: Question | ChoiceQuestion): string {
  const value = valueAt(settings, path) ?? preset;
  if (value === undefined) return '';
  return typeof value === 'object' ? stringify(value).trim() : String(value);
}

/** The text below a field: its purpose, and its errors. */
function remarks(form: FormState, part: Question | ChoiceQuestion): { readonly ids: string; readonly lines: Markup } {
  const { reader, problems, isAnswered } = form;
  const problem = problems.find(({ path }) => pathWithout(path) === part.path.join('.'));
  const isWrong = isAnswered && problem !== undefined;
  const id = PREFIX + part.name;
  return {
    ids: [part.about !== '' && `${id}-help`, isWrong && `${id}-problem`].filter(Boolean).join(' '),
    lines: html`${part.about !== '' && html`<p class="quiet" id=${`${id}-help`}>${saidWithLinks(reader, part.about)}</p>`}
    ${isWrong && html`<p class="problem" role="alert" id=${`${id}-problem`}>${labelOf(reader, part)}: ${said(reader, problem.message)}</p>`}`,
  };
}

function textField(form: FormState, question: Question): VNode {
  const { reader, settings } = form;
  const id = PREFIX + question.name;
  const { ids, lines } = remarks(form, question);
  const isKept =
    question.kind === 'secret' &&
    [withSuffix(question.path), question.path].some((path) => valueAt(settings, path) !== undefined);
  const common = { id, name: id, 'aria-describedby': ids === '' ? undefined : ids };
  const label = html`<label for=${id}>${labelOf(reader, question)}</label>`;
  if (question.kind === 'list')
    return html`<div class="question">
      ${label}<textarea ...${common} rows="4" spellcheck="false">${textOf(form, question)}</textarea>${lines}
    </div>`;
  const type = question.kind === 'secret' ? 'password' : 'text';
  return html`<div class="question">
    ${label}
    <input
      ...${common}
      type=${type}
      inputmode=${question.kind === 'number' ? 'decimal' : undefined}
      autocomplete="off"
      spellcheck="false"
      value=${question.kind === 'secret' ? undefined : textOf(form, question)}
      placeholder=${isKept ? reader.text('setup.kept') : undefined}
    />
    ${lines}
  </div>`;
}

function flagField(form: FormState, question: Question): VNode {
  const id = PREFIX + question.name;
  const { ids, lines } = remarks(form, question);
  // An empty box sends nothing: the empty field before it is its "no".
  return html`<div class="question">
    <div class="choice">
      <input id=${id} name=${id} type="checkbox" value="true" checked=${textOf(form, question) === 'true'} aria-describedby=${ids === '' ? undefined : ids} />
      <label for=${id}>${labelOf(form.reader, question)}</label>
    </div>
    ${lines}
  </div>`;
}

function selectField(form: FormState, choice: ChoiceQuestion): VNode {
  const id = PREFIX + choice.name;
  const { ids, lines } = remarks(form, choice);
  const value = textOf(form, choice);
  return html`<div class="question">
    <label for=${id}>${labelOf(form.reader, choice)}</label>
    <select id=${id} name=${id} aria-describedby=${ids === '' ? undefined : ids}>
      ${choice.preset === undefined && html`<option value=""></option>`}
      ${choice.options.map((option) => html`<option value=${option.value} selected=${option.value === value}>${option.value}</option>`)}
    </select>
    ${lines}
  </div>`;
}

/** Options with fields of their own. */
function variants(form: FormState, choice: ChoiceQuestion): VNode {
  const { reader } = form;
  const { lines } = remarks(form, choice);
  const name = PREFIX + choice.name;
  const value = textOf(form, choice);
  return html`<fieldset>
    <legend>${labelOf(reader, choice.options.length > 0 ? { path: choice.path.slice(0, -1) } : choice)}</legend>
    ${lines}
    ${choice.options.map((option) => {
      const id = `${name}-${option.value}`;
      return html`<div class="variant">
        <div class="choice">
          <input type="radio" id=${id} name=${name} value=${option.value} checked=${option.value === value} />
          <label for=${id}>${option.about === '' ? option.value : said(reader, option.about)}</label>
        </div>
        ${option.parts.length > 0 && html`<div class="group">${option.parts.map((part) => partField(option.value === value ? form : { ...form, problems: [] }, part))}</div>`}
      </div>`;
    })}
  </fieldset>`;
}
