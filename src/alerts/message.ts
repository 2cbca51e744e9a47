/** The text of an alert: what, since when, what to do. Pure. */
import { hash } from 'node:crypto';
import type { AlertStep } from './state.ts';

export interface AlertMessage {
  readonly subject: string;
  readonly text: string;
}

/** One message for all conditions that begin or end now; `place` names the installation. */
export function messageOf({ begun, over }: Pick<AlertStep, 'begun' | 'over'>, place: string): AlertMessage {
  const lines: string[] = [];
  if (begun.length > 0) lines.push(`cvrsync at ${place} needs a person:`);
  for (const { what, since, advice } of begun) lines.push('', `• ${what}, since ${shown(since)}.`, `  ${advice}`);
  if (over.length > 0) lines.push(...(begun.length > 0 ? [''] : []), `Over at ${place}:`);
  for (const { what, since, goneAt } of over)
    lines.push('', `• ${what}: from ${shown(since)} to ${shown(goneAt ?? since)}.`);
  return { subject: `cvrsync: ${headOf(begun, over)}`, text: lines.join('\n') };
}

export const messageId = ({ text }: AlertMessage): string => hash('sha256', text, 'hex').slice(0, 24);

function headOf(begun: AlertStep['begun'], over: AlertStep['over']): string {
  const [first] = begun;
  if (first !== undefined) return begun.length === 1 ? first.what : `${begun.length} things need a person`;
  return over.length === 1 ? `over: ${over[0]?.what ?? ''}` : `${over.length} things are over`;
}

const shown = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** Escapes `<`, `>` and `&`, which are commands in Slack (https://docs.slack.dev/messaging/formatting-message-text). */
export const slackText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
