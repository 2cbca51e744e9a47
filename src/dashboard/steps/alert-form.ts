/** The form of alerts, for the set-up and for Settings. */
import { ALERT_QUESTIONS } from '../../setup/alerts.ts';
import { html, type Markup } from '../page/html.ts';
import { said } from '../page/said.ts';
import { type FormState, otherProblems, questionFields, unfolded } from './question-fields.ts';
import { problemList } from './step-route.ts';

/** The settings that say where alerts go. */
const WAYS: readonly string[] = ['webhook', 'mail'];
const [FIRST, OTHERS] = [true, false].map((isWay) =>
  ALERT_QUESTIONS.filter(({ name }) => WAYS.includes(name) === isWay),
);

/** The fields: first the channels, then the times and kinds. */
export const alertFields = (form: FormState): Markup =>
  html`${problemList(otherProblems(form, ALERT_QUESTIONS).map(({ path, message }) => html`<code>${path}</code> ${said(form.reader, message)}`))} ${unfolded(form, FIRST ?? [])} ${questionFields(form, OTHERS ?? [])}`;
