/** Monitors as pages show them: their state, and addresses as far as the role may see them. */
import type { VNode } from 'preact';
import type { Monitor } from '../../service/monitors/monitor.ts';
import { maskedAddress } from '../../service/monitors/webhook-address.ts';
import { html, type Markup } from '../page/html.ts';
import { state, timeOf } from '../page/parts.ts';
import type { Visit } from '../page/visit.ts';

/** Whether a monitor is on, and why not. */
export function monitorState({ reader, now }: Visit, monitor: Monitor): VNode {
  const { enabled, enabledAt, disabledReason, disabledAt, failingSince } = monitor;
  const since = (at: number | null): Markup =>
    at !== null && html` <span class="quiet">${reader.text('monitor.since')} ${timeOf(reader, at, now)}</span>`;
  if (!enabled && enabledAt === null) return state('idle', reader.text('monitor.inactive'));
  if (!enabled && disabledReason === 'person')
    return html`${state('idle', reader.text('monitor.off'))}${since(disabledAt)}`;
  if (!enabled)
    return html`${state('bad', reader.text(disabledReason === 'gone' ? 'monitor.gone' : 'monitor.stopped'))}${since(disabledAt)}`;
  if (failingSince !== null) return html`${state('warn', reader.text('monitor.failing'))}${since(failingSince)}`;
  return state('ok', reader.text('monitor.on'));
}

/** The address of a webhook; its path may hold a secret, which those alone see who may change it. */
export function shownWebhook({ visitor }: Visit, url: string | null): string | null {
  return url === null || visitor.role === 'admin' ? url : maskedAddress(url);
}
