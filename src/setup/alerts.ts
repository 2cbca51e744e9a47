/** The questions about alerts, their answers, and whether the daemon would take them. */
import Type from 'typebox';
import { checkConfig } from '../config/load.ts';
import { type AlertsConfig, alerts } from '../config/schema/alerts.ts';
import type { ConfigProblem } from '../config/schema/fill.ts';
import { folderOf, type SetUpPlace } from './config-of.ts';
import type { SetUpGround } from './connections.ts';
import { questionsOf, readAnswers, type Settings } from './questions.ts';
import { keepSecrets } from './secret-files.ts';

const { digest: _, ...settings } = alerts.properties;

export const ALERT_QUESTIONS = questionsOf(Type.Object(settings));

/** The answers, with their secrets in files that begin with `section`; undefined if nobody would get an alert. */
export async function readAlerts(
  place: SetUpPlace,
  section: string,
  answer: (name: string) => string,
  before: Settings = {},
): Promise<Settings | undefined> {
  const answers = readAnswers(ALERT_QUESTIONS, listed(answer), before);
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

export interface AlertsReading {
  readonly alerts?: AlertsConfig | undefined;
  readonly problems: readonly ConfigProblem[];
}

/** The answers as the daemon would read them. Problems name the keys of the section. */
export async function checkAlerts(answers: Settings | undefined, { place, env }: SetUpGround): Promise<AlertsReading> {
  if (answers === undefined) return { problems: [] };
  const load = await checkConfig({ alerts: answers }, place.file, env);
  if (load.ok) return { alerts: load.config.alerts, problems: [] };
  return {
    problems: load.errors.map(({ path, message }) => ({ path: path.replace(/^alerts\.?/u, ''), message })),
  };
}
