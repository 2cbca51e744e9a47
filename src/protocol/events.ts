/**
 * All events. A new event is one line here; tables that are `Record<EventName, …>` then fail to compile until they
 * contain it.
 */
import type { Static } from 'typebox';
import {
  addressChange,
  boolChange,
  capitalChange,
  companyFormChange,
  dateChange,
  entityReference,
  industryChange,
  industryListChange,
  lifetimeChange,
  merger,
  monitorChange,
  monthlyEmployeeChange,
  newArticle,
  ownershipChanges,
  ownershipReference,
  quarterlyEmployeeChange,
  relationChanges,
  stringChange,
  stringListChange,
  votingChanges,
  yearlyEmployeeChange,
} from './formats.ts';
import { report } from './report.ts';

/** Event name to data format, in the specification's order. */
export const EVENTS = {
  name: stringChange,
  altNames: stringListChange,
  address: addressChange,
  industry: industryChange,
  altIndustries: industryListChange,
  purpose: stringChange,
  powerToBind: stringChange,
  bylawsChangedDate: dateChange,
  capital: capitalChange,
  form: companyFormChange,
  // The specification does not show the name of this event: see WireOptions in payload.ts.
  email: stringChange,
  fax: stringChange,
  phoneNumber: stringChange,
  website: stringChange,
  newReport: report,
  newCompany: entityReference,
  ownership: ownershipChanges,
  trueOwnership: ownershipChanges,
  trueVoteRights: votingChanges,
  accountant: relationChanges,
  board: relationChanges,
  management: relationChanges,
  status: stringChange,
  lifetimeStarted: lifetimeChange,
  lifetimeEnded: lifetimeChange,
  stakeholders: relationChanges,
  merger,
  pUnitUpdated: entityReference,
  pUnitAdded: entityReference,
  pUnitRemoved: entityReference,
  subsidiaryFounded: ownershipReference,
  commercialProtection: boolChange,
  monthlyEmployeeCount: monthlyEmployeeChange,
  quarterlyEmployees: quarterlyEmployeeChange,
  yearlyEmployees: yearlyEmployeeChange,
  newArticle,
  addedToMonitor: monitorChange,
  removedFromMonitor: monitorChange,
} as const;

export type EventName = keyof typeof EVENTS;

/** The data of an event, without `updated`. */
export type EventData<E extends EventName> = Static<(typeof EVENTS)[E]>;

export const isEventName = (text: string): text is EventName => Object.hasOwn(EVENTS, text);

/** In the specification's order. */
export const EVENT_NAMES: readonly EventName[] = Object.keys(EVENTS).filter(isEventName);

/** Events of values that every company has: null after such a change means unknown, not deleted. */
const NEVER_GONE: ReadonlySet<EventName> = new Set([
  'name',
  'form',
  'commercialProtection',
  'monthlyEmployeeCount',
  'quarterlyEmployees',
  'yearlyEmployees',
]);

/** Whether an event has no meaning, because the value after it is unknown. */
export const leavesUnknown = (event: EventName, data: object): boolean =>
  NEVER_GONE.has(event) && 'after' in data && data.after === null;

/** Names in earlier listings, with the current ones. */
export const OLDER_NAMES = { stakeholder: 'stakeholders', productionUnit: 'pUnitUpdated' } as const satisfies Record<
  string,
  EventName
>;
