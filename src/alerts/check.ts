/** The part of `check` that tests the channels of the alerts; sends no alert. */

import { errorText } from '../protocol/text/error-text.ts';
import type { Finding, Findings } from '../runtime/finding.ts';
import { type AlertSettings, openChannels } from './channel.ts';

export async function alertFindings(settings: AlertSettings | undefined, signal: AbortSignal): Promise<Findings> {
  if (settings === undefined)
    return [
      {
        level: 'info',
        subject: 'alerts',
        found: 'not configured: nobody is notified when something needs a person',
        advice: 'set alerts.webhook or alerts.mail',
      },
    ];
  const tried = openChannels(settings).map(async (channel): Promise<Finding> => {
    const subject = `alerts ${channel.name}`;
    try {
      const { ok, found } = await channel.verify(signal);
      return ok ? { level: 'ok', subject, found } : { level: 'fail', subject, found, advice: ADVICE[channel.name] };
    } catch (error) {
      const found = signal.aborted ? 'did not answer in time' : errorText(error);
      return { level: 'fail', subject, found, advice: ADVICE[channel.name] };
    } finally {
      await channel.close();
    }
  });
  return Promise.all(tried);
}

const ADVICE = {
  webhook: 'check alerts.webhook; if it is in a private network, name that network in alerts.allow',
  mail: 'check alerts.mail, or service.smtp if that has no url',
} as const;
