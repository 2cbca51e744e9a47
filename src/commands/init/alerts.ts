/** Asks in a terminal who gets alerts, and sends a test on request. */
import type { AlertsConfig } from '../../config/schema/alerts.ts';
import { CHANNELS } from '../../operations/installation/alert-test.ts';
import { ALERT_QUESTIONS, checkAlerts, readAlerts } from '../../setup/alerts.ts';
import type { SetUpGround } from '../../setup/connections.ts';
import type { Settings } from '../../setup/questions.ts';
import { UsageError } from '../cli/command.ts';
import type { Asker } from './asker.ts';

const KEY = 'alerts';

const NOWHERE = 'nowhere';

export interface AskedAlerts {
  readonly answers: Settings;
  readonly alerts: AlertsConfig;
  readonly isTested: boolean;
}

/** Undefined if nobody gets alerts. Throws {@link UsageError}. */
export async function askAlerts(asker: Asker, ground: SetUpGround): Promise<AskedAlerts | undefined> {
  const given = CHANNELS.filter((channel) => asker.isGiven(`${KEY}.${channel}`));
  const channels: readonly string[] = given.length > 0 ? given : [await askChannel(asker)];
  if (channels.includes(NOWHERE)) return undefined;
  const isOfChannel = ({ path: [first = ''] }: { readonly path: readonly string[] }) => channels.includes(first);
  const answer = await asker.askAll(KEY, ALERT_QUESTIONS, isOfChannel);
  const answers = (await readAlerts(ground.place, KEY, answer)) ?? {};
  const { alerts, problems } = await checkAlerts(answers, ground);
  if (alerts === undefined)
    throw new UsageError(
      problems.map(({ path, message }) => `${path === '' ? KEY : `${KEY}.${path}`} ${message}`).join('\n'),
    );
  const about = 'Send a test of the alerts now';
  const isTested = (await asker.ask({ key: `${KEY}.test`, about, usual: 'no', choices: ['no', 'yes'] })) === 'yes';
  return { answers, alerts, isTested };
}

const askChannel = (asker: Asker): Promise<string> =>
  asker.ask({ key: KEY, about: 'Where alerts go', usual: NOWHERE, choices: [NOWHERE, ...CHANNELS] });
