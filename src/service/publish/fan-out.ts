/** Decides which monitors get a change, and which of its events. */

import { type EventName, isEventName } from '../../protocol/events.ts';
import { type Change, isCompany } from '../changes/change.ts';
import type { Monitor } from '../monitors/monitor.ts';
import type { Listener } from '../monitors/monitor-row.ts';

export interface Notified {
  readonly monitor: string;
  /** At least one, in the order of the change. */
  readonly events: readonly EventName[];
  /** Null without a webhook. */
  readonly state: 'due' | 'held' | null;
  /** Empty while the monitor is disabled, and for a full state. */
  readonly recipients: readonly string[];
  readonly frequency: Monitor['mailFrequency'];
}

/**
 * Each monitor gets its selected events for entities of its target. A change with `only` goes to that monitor, whatever
 * its target. A disabled monitor's deliveries are held and it gets no mail; an inactive one gets nothing.
 */
export function fanOut(change: Change, monitors: readonly Listener[]): readonly Notified[] {
  const changed = Object.keys(change.updates).filter(isEventName);
  return monitors.flatMap((monitor): readonly Notified[] => {
    if (monitor.enabledAt === null || !concerns(change, monitor)) return [];
    const events = selected(changed, monitor.events);
    const state = deliveryState(monitor);
    const recipients = mailRecipients(change, monitor);
    if (events.length === 0 || (state === null && recipients.length === 0)) return [];
    return [{ monitor: monitor.id, events, state, recipients, frequency: monitor.mailFrequency }];
  });
}

function deliveryState({ hasWebhook, enabled }: Listener): Notified['state'] {
  if (!hasWebhook) return null;
  return enabled ? 'due' : 'held';
}

/** A full state answers a program; as mail it would look as if everything were new. */
const mailRecipients = ({ kind }: Change, { enabled, emails }: Listener): readonly string[] =>
  enabled && kind !== 'state' ? emails : [];

function concerns({ entity, only }: Change, monitor: Listener): boolean {
  if (only !== undefined) return monitor.id === only;
  return monitor.target === 'all' ? isCompany(entity) : monitor.entities.has(entity);
}

const selected = (changed: readonly EventName[], wanted: readonly EventName[] | null): readonly EventName[] =>
  wanted === null ? changed : changed.filter((event) => wanted.includes(event));
