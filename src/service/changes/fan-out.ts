/** Who is told of a change, and which of its events. */
import { type EventName, isEventName } from '../../protocol/events.ts';
import type { Monitor } from '../monitors/monitor.ts';
import type { Change } from './change.ts';

/** What the decision needs of a monitor; its secrets stay sealed. */
export interface Listener
  extends Pick<Monitor, 'id' | 'name' | 'target' | 'events' | 'emails' | 'mailFrequency' | 'enabled' | 'enabledAt'> {
  /** Those of the entities in question that its list holds. */
  readonly entities: ReadonlySet<string>;
  readonly hasWebhook: boolean;
}

/** What one monitor is told of one change. */
export interface Notified {
  readonly monitor: string;
  /** At least one, in the order of the change. */
  readonly events: readonly EventName[];
  /** Of the delivery to its webhook; null where it has none. */
  readonly state: 'due' | 'held' | null;
  /** Who gets a mail of it; empty while the monitor is off, and for a whole state. */
  readonly recipients: readonly string[];
  readonly frequency: Monitor['mailFrequency'];
}

const COMPANY = 'CVR-1-';

/** Whether an entity id is a company's: monitors of everything are told of companies only. */
export const isCompany = (entity: string): boolean => entity.startsWith(COMPANY);

/**
 * What each monitor is told of a change: the events that it selected, of an entity of its target. A change with `only`
 * goes to that monitor alone, whatever its target. A monitor that is off has its deliveries held, and gets no mail; one
 * that was never activated is told nothing.
 */
export function fanOut(change: Change, monitors: readonly Listener[]): readonly Notified[] {
  const changed = Object.keys(change.updates).filter(isEventName);
  return monitors.flatMap((monitor): readonly Notified[] => {
    if (monitor.enabledAt === null || !concerns(change, monitor)) return [];
    const events = selected(changed, monitor.events);
    if (events.length === 0) return [];
    const state = !monitor.hasWebhook ? null : monitor.enabled ? 'due' : 'held';
    // A whole state was asked for by a program: to people it would read as if all of it were new.
    const recipients = monitor.enabled && change.kind !== 'state' ? monitor.emails : [];
    if (state === null && recipients.length === 0) return [];
    return [{ monitor: monitor.id, events, state, recipients, frequency: monitor.mailFrequency }];
  });
}

function concerns({ entity, only }: Change, monitor: Listener): boolean {
  if (only !== undefined) return monitor.id === only;
  return monitor.target === 'all' ? isCompany(entity) : monitor.entities.has(entity);
}

const selected = (changed: readonly EventName[], wanted: readonly EventName[] | null): readonly EventName[] =>
  wanted === null ? changed : changed.filter((event) => wanted.includes(event));
