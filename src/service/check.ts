/** The findings of `check` on the service: the register, the mail server, the monitors, and allowed addresses. */
import type { OutboundHttp } from '../http/outbound/client.ts';
import { BENEFICIAL_OWNER_EVENTS } from '../protocol/beneficial-owners.ts';
import { errorText } from '../protocol/text/error-text.ts';
import type { Finding, Findings } from '../runtime/finding.ts';
import type { Store } from '../store/store.ts';
import { checkRegisters, reasonOf } from './check-register.ts';
import { countDeliveries } from './delivery/deliveries.ts';
import type { Secrets } from './keys/secrets.ts';
import { openMailer } from './mail/send.ts';
import type { Monitor } from './monitors/monitor.ts';
import { listMonitors } from './monitors/monitors.ts';
import type { ServiceSettings } from './service-settings.ts';

export interface ServiceCheckDeps {
  readonly store: Store;
  readonly http: OutboundHttp;
  readonly now: () => number;
  readonly secrets: Secrets;
}

export interface ServiceToCheck {
  readonly server: { readonly publicUrl?: string };
  readonly service: Pick<ServiceSettings, 'register' | 'smtp' | 'webhooks' | 'beneficialOwners'>;
}

/**
 * Runs all checks at once, without sending mail or posting. A check without an answer before the signal aborts is a
 * finding too.
 */
export async function serviceFindings(
  deps: ServiceCheckDeps,
  config: ServiceToCheck,
  signal: AbortSignal,
): Promise<Findings> {
  const monitors = readMonitors(deps);
  const parts = [
    checkRegisters(deps, config.service, signal),
    checkMail(config, monitors, signal),
    checkMonitors(deps, monitors, config.service),
    checkWebhooks(config),
  ];
  return (await Promise.all(parts)).flat();
}

async function checkMail(
  { server, service: { smtp } }: ServiceToCheck,
  reading: Promise<Read>,
  signal: AbortSignal,
): Promise<Findings> {
  const subject = 'mail';
  const { monitors } = await reading;
  if (smtp === undefined) {
    const waiting = monitors.filter(({ emails }) => emails.length > 0).length;
    if (waiting === 0) return [{ level: 'info', subject, found: 'not configured: no mail is sent' }];
    const found = `not configured, and ${waiting} monitors have recipients: their mail is given up`;
    return [{ level: 'warn', subject, found, advice: 'set service.smtp' }];
  }
  const findings: Finding[] = [];
  if (server.publicUrl === undefined)
    findings.push({
      level: 'warn',
      subject,
      found: 'the links that end a mail lead to an address of this machine',
      advice: 'set server.publicUrl to the public address of this server',
    });
  try {
    const mailer = openMailer(smtp);
    try {
      const error = await mailer.verify(signal);
      if (error !== undefined) throw new Error(error);
    } finally {
      mailer.close();
    }
    return [...findings, { level: 'ok', subject, found: 'the mail server answers and accepts the connection' }];
  } catch (error) {
    return [...findings, { level: 'fail', subject, found: reasonOf(error, signal), advice: 'check service.smtp' }];
  }
}

type Read = { readonly monitors: readonly Monitor[]; readonly error?: unknown };

/** Never rejects, because two callers await it. */
async function readMonitors({ store, secrets }: ServiceCheckDeps): Promise<Read> {
  try {
    return { monitors: await listMonitors(store.db, secrets) };
  } catch (error) {
    return { monitors: [], error };
  }
}

const asksForBeneficialOwners = ({ events }: Monitor): boolean =>
  events?.some((event) => BENEFICIAL_OWNER_EVENTS.has(event)) === true;

/** The monitors that a finding names. */
const NAMED = 5;

async function checkMonitors(
  { store }: ServiceCheckDeps,
  reading: Promise<Read>,
  { beneficialOwners = false }: ServiceToCheck['service'],
): Promise<Findings> {
  const subject = 'monitors';
  const { monitors, error } = await reading;
  if (error !== undefined) return [{ level: 'fail', subject, found: errorText(error) }];
  const findings: Finding[] = [];
  const warn = (found: readonly Monitor[], what: string, advice: string): void => {
    if (found.length === 0) return;
    const names = found.slice(0, NAMED).map(({ name, id }) => `${name} (${id})`);
    const more = found.length > NAMED ? ` and ${found.length - NAMED} more` : '';
    findings.push({ level: 'warn', subject, found: `${what}: ${names.join(', ')}${more}`, advice });
  };
  const off = monitors.filter(({ disabledReason }) => disabledReason === 'failing' || disabledReason === 'gone');
  warn(
    off,
    'switched off, because their webhooks failed',
    'fix the webhook, then run cvrsync monitors activate ID --replay',
  );
  const failing = monitors.filter(({ enabled, failingSince }) => enabled && failingSince !== null);
  warn(failing, 'failing now', 'see cvrsync deliveries list --monitor');
  const silent = monitors.filter(({ provider, url, enabled }) => provider !== null && url === null && enabled);
  warn(silent, 'jobs without a webhook, so nobody is notified', 'cvrsync monitors update --url');
  const asking = beneficialOwners ? [] : monitors.filter(asksForBeneficialOwners);
  warn(
    asking,
    'ask for events of beneficial owners, which are left out',
    'state in beneficialOwners.legalBasis why you may have them, or remove those events',
  );
  const held = await countDeliveries(store.db, { state: 'held' });
  if (held > 0)
    findings.push({
      level: 'info',
      subject,
      found: `${held} deliveries are held for monitors that are off or were`,
      advice: 'see cvrsync deliveries replay',
    });
  const jobs = monitors.filter(({ provider }) => provider !== null).length;
  return findings.length > 0
    ? findings
    : [{ level: 'ok', subject, found: `${monitors.length - jobs} monitors and ${jobs} jobs, none in trouble` }];
}

async function checkWebhooks({ service: { webhooks } }: ServiceToCheck): Promise<Findings> {
  if (!webhooks.allowPrivateAddresses) return [];
  return [
    {
      level: 'warn',
      subject: 'webhooks',
      found: 'webhooks may go to every address, including those of this machine and its network',
      advice: 'name what is needed in service.webhooks.allow',
    },
  ];
}
