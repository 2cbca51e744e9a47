/** The form of alerts, for the set-up and for Settings. */
import Type from 'typebox';
import { alerts } from '../../config/schema/alerts.ts';
import { folderOf, type SetUpPlace } from '../../setup/config-of.ts';
import { questionsOf, readAnswers, type Settings } from '../../setup/questions.ts';
import { keepSecrets } from '../../setup/secret-files.ts';
import type { Fields } from '../page/fields.ts';
import { html, type Markup } from '../page/html.ts';
import { said } from '../page/said.ts';
import { answerIn, type FormState, otherProblems, questionFields, unfolded } from './question-fields.ts';
import { problemList } from './step-route.ts';

const { digest: _, ...ways } = alerts.properties;
const QUESTIONS = questionsOf(Type.Object(ways));
/** The settings that say where alerts go. */
const WAYS: readonly string[] = ['webhook', 'mail'];
const [FIRST, OTHERS] = [true, false].map((isWay) => QUESTIONS.filter(({ name }) => WAYS.includes(name) === isWay));

/** The fields: first the channels, then the times and kinds. */
export const alertFields = (form: FormState): Markup =>
  html`${problemList(otherProblems(form, QUESTIONS).map(({ path, message }) => html`<code>${path}</code> ${said(form.reader, message)}`))} ${unfolded(form, FIRST ?? [])} ${questionFields(form, OTHERS ?? [])}`;

/** The answers, with their secrets in files that begin with `section`; undefined if nobody would get an alert. */
export async function readAlerts(
  place: SetUpPlace,
  section: string,
  fields: Fields,
  before: Settings = {},
): Promise<Settings | undefined> {
  const answers = readAnswers(QUESTIONS, listed(answerIn(fields)), before);
  const kept = await keepSecrets(folderOf(place), section, answers);
  return kept['mail'] !== undefined || kept['webhook'] !== undefined || 'webhook_FILE' in kept ? kept : undefined;
}

/** People type addresses one per line, or with commas. */
const listed = (answer: (name: string) => string) => (name: string) => {
  const text = answer(name);
  if (name !== 'mail.to' && name !== 'allow') return text;
  const entries = text.split(/[\s,;]+/u).filter((each) => each !== '' && each !== '-');
  return entries.length === 0 ? '' : JSON.stringify(entries);
};
