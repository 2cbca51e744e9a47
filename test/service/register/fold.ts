/** The state of a company as a receiver knows it: facts, and changes applied to them. */
import type { EventName } from '../../../src/protocol/events.ts';
import type { Updates } from '../../../src/protocol/payload.ts';
import type { Company } from '../../../src/service/register/document/company.ts';

export type Facts = ReadonlyMap<string, unknown>;

// Not compared: the period of an entry and when it was touched are no content.
const ASIDE = new Set([
  'period',
  'lastUpdated',
  'shortDescription',
  'responsibleDataProvider',
  'hasClasses',
  'isPartial',
]);

const content = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? null, (key, each) => (ASIDE.has(key) ? undefined : each)));

const memberOf = (member: object): string => {
  if ('industryCode' in member) return String(member.industryCode);
  const share = 'ownership' in member ? member.ownership : 'voterights' in member ? member.voterights : '';
  return `${'entityId' in member ? member.entityId : ''} ${share ?? ''}`.trim();
};
const idOf = (member: string): string => member.split(' ')[0] ?? '';
const keyOf = (item: unknown): string => (typeof item === 'object' && item !== null ? memberOf(item) : String(item));

const sorted = (items: readonly unknown[]): readonly string[] => items.map(keyOf).sort();

/** The facts of a snapshot, lists as sorted texts. */
export const factsOf = (company: Company): Facts => {
  const { names, altIndustries, units, life, monthly, quarterly, yearly, bodies, ...told } = company;
  const single = [
    'address',
    'industry',
    'purpose',
    'powerToBind',
    'bylawsChangedDate',
    'capital',
    'form',
    'email',
    'fax',
    'phoneNumber',
    'website',
    'status',
    'commercialProtection',
  ] as const;
  const { founders: _, ...tellable } = bodies;
  return new Map<string, unknown>([
    ['name', names.value],
    ...single.map((key): [string, unknown] => [key, content(told[key].value)]),
    ['altNames', sorted(told.altNames.value)],
    ['altIndustries', [...new Set(sorted(altIndustries.value.map(({ industry }) => industry)))]],
    ['units', sorted(units.value)],
    ['started', life.value.started],
    ['ended', life.value.ended],
    ['monthlyEmployeeCount', monthly?.value ?? null],
    ['quarterlyEmployees', quarterly?.value ?? null],
    ['yearlyEmployees', yearly?.value ?? null],
    ...Object.entries(tellable).map(([body, { members }]): [string, unknown] => [
      body,
      sorted(members.map(({ entityId, share }) => ({ entityId, ownership: share }))),
    ]),
  ]);
};

const listOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);
const items = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const withUnit = (facts: Map<string, unknown>, added: readonly string[], removed: readonly string[]): void => {
  facts.set('units', [...listOf(facts.get('units')).filter((unit) => !removed.includes(unit)), ...added].sort());
};

const apply = (facts: Map<string, unknown>, event: EventName, data: object): void => {
  if ('after' in data) facts.set(event, content(data.after));
  else if ('added' in data && 'removed' in data) {
    const changed = 'changed' in data ? items(data.changed) : [];
    const gone = [...items(data.removed), ...changed].map((item) => idOf(keyOf(item)));
    const whole = event === 'altNames' ? items(data.removed).map(keyOf) : gone;
    const kept = listOf(facts.get(event)).filter((each) => !whole.includes(event === 'altNames' ? each : idOf(each)));
    facts.set(event, [...kept, ...sorted([...items(data.added), ...changed])].sort());
  } else if (event === 'lifetimeEnded' && 'date' in data) facts.set('ended', data.date);
};

/** The facts after some updates. */
export const fold = (before: Facts, updates: Updates): Facts => {
  const facts = new Map(before);
  for (const [event, data] of Object.entries(updates)) apply(facts, event as EventName, data);
  if (updates.lifetimeStarted !== undefined) {
    facts.set('started', updates.lifetimeStarted.date);
    if (updates.lifetimeEnded === undefined) facts.set('ended', null);
  }
  const { pUnitAdded, pUnitRemoved } = updates;
  if (pUnitAdded !== undefined) withUnit(facts, [pUnitAdded.entity.entityId], []);
  if (pUnitRemoved !== undefined) withUnit(facts, [], [pUnitRemoved.entity.entityId]);
  return facts;
};
