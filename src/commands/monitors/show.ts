/** Monitors and jobs as the command line shows them. */
import { sql } from 'kysely';
import { viewOf, viewWithSecret } from '../../operations/service/monitor-view.ts';
import { type WireOptions, wireNameOf } from '../../protocol/payload.ts';
import { readStoppedMails, type StoppedMail } from '../../service/mail/stopped-mails.ts';
import type { Monitor } from '../../service/monitors/monitor.ts';
import { maskedAddress } from '../../service/monitors/webhook-address.ts';
import type { Db } from '../../store/store.ts';
import type { ServiceContext } from '../arguments/with-service.ts';
import type { CommandContext } from '../cli/context.ts';
import { oneLine, type TableRow } from '../cli/table.ts';
import { shownTime } from '../cli/when.ts';

export async function itemCounts(db: Db): Promise<ReadonlyMap<string, number>> {
  const counted = await db
    .selectFrom('item')
    .select(['monitor', sql<number>`count(*)`.as('items')])
    .groupBy('monitor')
    .execute();
  return new Map(counted.map(({ monitor, items }) => [monitor, items]));
}

const stateOf = ({ enabled, enabledAt, disabledReason, disabledAt, failingSince }: Monitor): string => {
  if (!enabled && enabledAt === null) return 'inactive';
  if (!enabled) return `off since ${shownTime(disabledAt)}${disabledReason === 'person' ? '' : `: ${disabledReason}`}`;
  return failingSince === null ? 'on' : `on, failing since ${shownTime(failingSince)}`;
};

export const rowOf = (monitor: Monitor, counts: ReadonlyMap<string, number>, wire: WireOptions): TableRow => {
  const { id, name, target, events, url, emails } = monitor;
  return {
    id,
    name,
    watches: target === 'all' ? 'everything' : (counts.get(id) ?? 0),
    events: events?.map((event) => wireNameOf(event, wire)).join(' ') ?? 'all',
    webhook: url === null ? null : maskedAddress(url),
    mails: emails.length,
    state: stateOf(monitor),
  };
};

/** One monitor in full, without its secrets. */
export async function show(
  context: CommandContext,
  { store, options }: Pick<ServiceContext, 'store' | 'options'>,
  monitor: Monitor,
): Promise<void> {
  const view = viewOf(monitor, options);
  const items = (await itemCounts(store.db)).get(monitor.id) ?? 0;
  const ended = await readStoppedMails(store.db, monitor.id);
  const { credentials, signingSecrets, ...plain } = view;
  const lines = [
    ...Object.entries(plain).map(([name, value]) => `${name}: ${formatValue(value)}`),
    `items: ${items}`,
    `credentials: ${credentials.method}${credentials.key === undefined ? '' : ` ${credentials.key}`}`,
    `signing secrets: ${signingSecrets.length}`,
    `state: ${stateOf(monitor)}`,
    ...ended.map(stoppedLine),
    ...(ended.length > 0 ? [`To resume mail: cvrsync monitors resubscribe ${monitor.id} ADDRESS`] : []),
  ];
  context.output.result({ ...view, items, mailEnded: ended }, lines.join('\n'));
}

function stoppedLine({ recipient, at, bounced, retryAt }: StoppedMail): string {
  const why = bounced === null ? 'unsubscribed' : `bounced, ${oneLine(bounced)}`;
  const next = retryAt === null ? '' : ` (tried again ${shownTime(retryAt)})`;
  return `no mail to ${recipient} since ${shownTime(at)}: ${why}${next}`;
}

const formatValue = (value: unknown): string => {
  if (value === null) return '';
  return Array.isArray(value) ? value.join(' ') : String(value);
};

/** Warns if a monitor has mail recipients, and no mail server is configured. */
export function warnWithoutMailServer({ log }: CommandContext, { emails }: Monitor, hasMailServer: boolean): void {
  if (emails.length === 0 || hasMailServer) return;
  log.warn({ setting: 'service.smtp' }, 'no mail goes out: there is no mail server. Set service.smtp');
}

export function showNew(context: CommandContext, monitor: Monitor, wire: WireOptions, done: string): void {
  if (monitor.url === null)
    context.output.result(
      viewOf(monitor, wire),
      `${done} Its id is ${monitor.id}. It ${monitor.emails.length > 0 ? 'notifies by mail' : 'has no webhook'}.`,
    );
  else showSecret(context, monitor, wire, done);
}

/** Shows a monitor with its new signing secret, which cannot be shown again. */
export function showSecret(context: CommandContext, monitor: Monitor, wire: WireOptions, done: string): void {
  const view = viewWithSecret(monitor, wire);
  const text = `${done} Its id is ${monitor.id}.\nSigning secret, which cannot be shown again: ${view.signingSecret}`;
  context.output.result(view, text);
}
