/** The state of monitors and the addresses of webhooks, as far as the role may see them. */
import type { VNode } from 'preact';
import type { Monitor } from '../../service/monitors/monitor.ts';
import { maskedAddress } from '../../service/monitors/webhook-address.ts';
import { html, type Markup } from '../page/html.ts';
import { state, timeOf } from '../page/parts.ts';
import type { Visit } from '../page/visit.ts';

/** Whether a monitor is enabled, or why not. */
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

/** The path may hold a secret, so only roles that may change the address see it. */
export function shownWebhook({ visitor }: Visit, url: string | null): string | null {
  return url === null || visitor.role === 'admin' ? url : maskedAddress(url);
}
