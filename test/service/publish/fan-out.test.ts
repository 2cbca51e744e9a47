import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENT_NAMES, type EventName } from '../../../src/protocol/events.ts';
import type { Updates } from '../../../src/protocol/payload.ts';
import type { Listener } from '../../../src/service/monitors/monitor-row.ts';
import { fanOut } from '../../../src/service/publish/fan-out.ts';
import { COMPANY, changed, OTHER, PERSON, RENAMED_AND_MOVED } from '../monitored.ts';

const listener = (over: Partial<Listener> = {}): Listener => ({
  id: 'm',
  name: 'Sales',
  target: 'all',
  entities: new Set(),
  events: null,
  hasWebhook: true,
  emails: [],
  mailFrequency: 'daily',
  enabled: true,
  enabledAt: 1,
  ...over,
});

const both = changed({ updates: RENAMED_AND_MOVED });
const told = (change = both, ...monitors: readonly Partial<Listener>[]) => fanOut(change, monitors.map(listener));

/** Whether a change of a company is one for this monitor; `only` names the one monitor that asked for it. */
function isMeant({ id, target, entities }: Listener, about: string, only: string | undefined): boolean {
  if (only !== undefined) return id === only;
  return target === 'items' ? entities.has(about) : about.startsWith('CVR-1-');
}
const wantedBy = ({ events }: Listener, names: readonly EventName[]): readonly EventName[] =>
  names.filter((name) => events === null || events.includes(name));
const isReached = ({ hasWebhook, enabled, emails, enabledAt }: Listener): boolean =>
  (hasWebhook || (enabled && emails.length > 0)) && enabledAt !== null;
function rowFor(monitor: Listener, events: readonly EventName[]): object {
  const { hasWebhook, enabled, emails } = monitor;
  const state = enabled ? 'due' : 'held';
  return { monitor: monitor.id, events, state: hasWebhook ? state : null, recipients: enabled ? emails : [] };
}

describe('fan-out', () => {
  it('sends all events of every company to a monitor of everything', () => {
    expect(told(both, {})).toEqual([
      { monitor: 'm', events: ['name', 'website'], state: 'due', recipients: [], frequency: 'daily' },
    ]);
  });

  it('sends only selected events, and nothing if none of them changed', () => {
    expect(told(both, { events: ['website', 'status'] })[0]?.events).toEqual(['website']);
    expect(told(both, { events: ['status'] })).toEqual([]);
    expect(told(both, { events: [] })).toEqual([]);
  });

  it('notifies a list of its own entities only, including persons', () => {
    const list = { target: 'items', entities: new Set([COMPANY, PERSON]) } as const;
    expect(told(both, list)).toHaveLength(1);
    expect(told(changed({ entity: PERSON }), list)).toHaveLength(1);
    expect(told(changed({ entity: OTHER }), list)).toEqual([]);
  });

  it('notifies only monitors that list a person of that person', () => {
    expect(told(changed({ entity: PERSON }), {}, { entities: new Set([PERSON]) })).toEqual([]);
  });

  it('holds changes while a monitor is disabled, and stores none for one that was never enabled', () => {
    expect(told(both, { enabled: false, emails: ['a@example.com'] })).toEqual([
      { monitor: 'm', events: ['name', 'website'], state: 'held', recipients: [], frequency: 'daily' },
    ]);
    expect(told(both, { enabled: false, enabledAt: null, emails: ['a@example.com'] })).toEqual([]);
  });

  it('mails nobody a full state, because nothing in it need be new', () => {
    const emails = ['a@example.com'];
    const state = changed({ only: 'm', kind: 'state' });
    expect(told(state, { emails })).toMatchObject([{ state: 'due', recipients: [] }]);
    expect(told(state, { emails, hasWebhook: false })).toEqual([]);
    expect(told(changed({ only: 'm', kind: 'monitor' }), { emails })).toMatchObject([{ recipients: emails }]);
  });

  it('mails if there is no webhook, and notifies nobody if there is neither', () => {
    const mail = { hasWebhook: false, emails: ['a@example.com'], mailFrequency: 'immediate' } as const;
    expect(told(both, mail)[0]).toMatchObject({ state: null, recipients: ['a@example.com'], frequency: 'immediate' });
    expect(told(both, { ...mail, enabled: false })).toEqual([]);
    expect(told(both, { hasWebhook: false })).toEqual([]);
  });

  it('sends what is for one monitor to that one, whether or not it lists the entity', () => {
    const state = changed({ only: 'b', kind: 'state' });
    const monitors = [
      { id: 'a' },
      { id: 'b', target: 'items' },
      { id: 'c', target: 'items', entities: new Set([COMPANY]) },
    ] as const;
    expect(told(state, ...monitors).map(({ monitor }) => monitor)).toEqual(['b']);
  });

  it('keeps its rules for any changes and monitors', () => {
    const events = fc.uniqueArray(fc.constantFrom(...EVENT_NAMES), { maxLength: 6 });
    const entity = fc.constantFrom(COMPANY, OTHER, PERSON, 'CVR-2-1099000015');
    const listeners = fc.uniqueArray(
      fc.record<Listener>({
        id: fc.uuid(),
        name: fc.string(),
        target: fc.constantFrom('all', 'items'),
        entities: fc.uniqueArray(entity).map((list) => new Set(list)),
        events: fc.option(events),
        hasWebhook: fc.boolean(),
        emails: fc.uniqueArray(fc.emailAddress(), { maxLength: 2 }),
        mailFrequency: fc.constantFrom('immediate', 'daily'),
        enabled: fc.boolean(),
        enabledAt: fc.option(fc.nat()),
      }),
      { selector: ({ id }) => id, maxLength: 8 },
    );
    fc.assert(
      fc.property(
        entity,
        fc.uniqueArray(fc.constantFrom(...EVENT_NAMES), { minLength: 1 }),
        listeners,
        fc.boolean(),
        (about, names, monitors, isOne) => {
          const updates: Updates = Object.fromEntries(names.map((name) => [name, {}]));
          const only = isOne ? monitors[0]?.id : undefined;
          const change = changed({ entity: about, updates, ...(only !== undefined && { only }) });
          const result = fanOut(change, monitors);
          expect(new Set(result.map(({ monitor }) => monitor)).size).toBe(result.length);
          for (const monitor of monitors) {
            const one = result.find((row) => row.monitor === monitor.id);
            const wanted = wantedBy(monitor, names);
            const isTold = isMeant(monitor, about, only) && wanted.length > 0 && isReached(monitor);
            expect(one).toEqual(isTold ? expect.objectContaining(rowFor(monitor, wanted)) : undefined);
            // Which others there are makes no difference to anyone.
            expect(fanOut(change, [monitor])).toEqual([one].filter((row) => row !== undefined));
          }
        },
      ),
    );
  });
});
