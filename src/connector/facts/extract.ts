/**
 * Extracts a payload's assertions about the fields of its company. One row per event, so the compiler requires a row
 * for a new event. Pure.
 */
import type { FieldName, Member } from '../../../providers/fields.ts';
import { type EventData, type EventName, leavesUnknown } from '../../protocol/events.ts';
import type { Entity, Industry } from '../../protocol/formats.ts';
import { statesWholeCompany } from '../../protocol/full-state.ts';
import type { Payload } from '../../protocol/payload.ts';
import { isNoDate, normaliseTime } from '../../protocol/text/time.ts';
import { type AssertedChange, type Assertion, isMembers, type Scalar } from './assertion.ts';
import { addressFields } from './extract-address.ts';
import { ofMonth, ofQuarter, ofYear } from './extract-period.ts';
import { reportFields } from './extract-report.ts';

type Extract<E extends EventName> = (data: EventData<E>, payload: Payload) => readonly AssertedChange[];

const value = (field: FieldName, data: { before: Scalar; after: Scalar }): readonly AssertedChange[] => [
  { field, now: data.after, before: data.before },
];
const day = (time: string | null): string | null => (time === null || isNoDate(time) ? null : time.trim().slice(0, 10));

const member = ({ entityId, name, type }: Entity): Member => ({
  id: entityId,
  name: name?.trim() || entityId,
  type: type ?? undefined,
});
const relation =
  (field: FieldName) =>
  (data: { added: readonly Entity[]; removed: readonly Entity[] }): readonly AssertedChange[] => [
    { field, added: data.added.map(member), removed: data.removed.map((each) => each.entityId) },
  ];
const withShare = (each: Entity, share: string | null): Member => {
  const stated = share?.trim() ?? '';
  return { ...member(each), share: stated === '' ? undefined : stated };
};

const text = (each: string): Member => ({ id: each, name: each });
/**
 * Industry codes have six digits and never begin with two zeros: a code of five was sent as a number and lost its zero.
 */
const sixDigits = (code: string): string => (/^\d{5}$/u.test(code.trim()) ? `0${code.trim()}` : code.trim());
const industryMember = ({ industryCode, industryText }: Industry): Member => ({
  id: sixDigits(industryCode),
  name: industryText?.trim() || sixDigits(industryCode),
});
const code = (industry: Industry | null): string | null =>
  industry === null ? null : sixDigits(industry.industryCode);

const nothing = (): readonly AssertedChange[] => [];

const EXTRACT: { readonly [E in EventName]: Extract<E> } = {
  name: (data) => value('name', data),
  altNames: ({ added, removed }) => [{ field: 'altNames', added: added.map(text), removed }],
  address: ({ before, after }) => addressFields(before, after),
  industry: ({ before, after }) => [
    { field: 'industryCode', now: code(after), before: code(before) },
    { field: 'industryText', now: after?.industryText ?? null, before: before?.industryText ?? null },
  ],
  altIndustries: ({ added, removed }) => [
    {
      field: 'altIndustries',
      added: added.map(industryMember),
      removed: removed.map((each) => industryMember(each).id),
    },
  ],
  purpose: (data) => value('purpose', data),
  powerToBind: (data) => value('powerToBind', data),
  bylawsChangedDate: ({ before, after }) => value('bylawsChangedDate', { before: day(before), after: day(after) }),
  capital: ({ before, after }) => [
    { field: 'capital', now: after?.value ?? null, before: before?.value ?? null },
    { field: 'capitalCurrency', now: after?.currency ?? null, before: before?.currency ?? null },
  ],
  form: ({ before, after }) => [
    { field: 'formCode', now: formCode(after), before: formCode(before) },
    { field: 'form', now: after?.shortDescription ?? null, before: before?.shortDescription ?? null },
    { field: 'formText', now: after?.longDescription ?? null, before: before?.longDescription ?? null },
  ],
  email: (data) => value('email', data),
  fax: (data) => value('fax', data),
  phoneNumber: (data) => value('phone', data),
  website: (data) => value('website', data),
  newReport: ({ data }) => reportFields(data),
  newCompany: ({ entity }, { entityId }) =>
    entity.entityId === entityId && entity.name !== null ? [{ field: 'name', now: entity.name }] : [],
  ownership: ({ added, changed, removed }) => [
    {
      field: 'owners',
      added: [...added, ...changed].map((each) => withShare(each, each.ownership)),
      removed: removed.map((each) => each.entityId),
    },
  ],
  trueOwnership: ({ added, changed, removed }) => [
    {
      field: 'trueOwners',
      added: [...added, ...changed].map((each) => withShare(each, each.ownership)),
      removed: removed.map((each) => each.entityId),
    },
  ],
  trueVoteRights: ({ added, changed, removed }) => [
    {
      field: 'trueVoteRights',
      added: [...added, ...changed].map((each) => withShare(each, each.voterights)),
      removed: removed.map((each) => each.entityId),
    },
  ],
  accountant: relation('accountant'),
  board: relation('board'),
  management: relation('management'),
  status: (data) => value('status', data),
  lifetimeStarted: ({ date }, { updates }) => [
    { field: 'startDate', now: day(date) },
    // A company that starts again has not ended; the payload of an ended company states both.
    ...(updates.lifetimeEnded === undefined ? [{ field: 'endDate', now: null } as const] : []),
  ],
  lifetimeEnded: ({ date }) => [{ field: 'endDate', now: day(date) }],
  stakeholders: relation('stakeholders'),
  merger: ({ entity, dissolved }) => (dissolved ? [{ field: 'mergedInto', now: entity.entityId }] : []),
  pUnitUpdated: ({ entity }) => [{ field: 'productionUnits', added: [member(entity)], removed: [] }],
  pUnitAdded: ({ entity }) => [{ field: 'productionUnits', added: [member(entity)], removed: [] }],
  pUnitRemoved: ({ entity }) => [{ field: 'productionUnits', added: [], removed: [entity.entityId] }],
  subsidiaryFounded: ({ ownership }) => [
    { field: 'subsidiaries', added: [withShare(ownership, ownership.ownership)], removed: [] },
  ],
  commercialProtection: (data) => value('advertisingProtected', data),
  monthlyEmployeeCount: ({ year, month, before, after }) => {
    const period = ofMonth(year, month);
    if (period === undefined) return [];
    const figure = { now: after, before };
    return [
      { field: 'employees', now: after, before, period, figure },
      { field: 'employeesMonth', now: period, period, figure },
    ];
  },
  quarterlyEmployees: ({ year, quarter, before, after }) =>
    inPeriod('employeesQuarterly', ofQuarter(year, quarter), before, after),
  yearlyEmployees: ({ year, before, after }) => inPeriod('employeesYearly', ofYear(year), before, after),
  newArticle: ({ headline, link, time }, { timestamp }) => {
    const written = time === null || isNoDate(time) ? null : (normaliseTime(time) ?? null);
    const period = written ?? timestamp;
    return [
      { field: 'newsHeadline', now: headline, period },
      { field: 'newsLink', now: link, period },
      { field: 'newsTime', now: written, period },
    ];
  },
  addedToMonitor: nothing,
  removedFromMonitor: nothing,
};

const inPeriod = (
  field: FieldName,
  period: string | undefined,
  before: Scalar,
  now: Scalar,
): readonly AssertedChange[] => (period === undefined ? [] : [{ field, now, before, period, figure: { now, before } }]);

const formCode = (form: EventData<'form'>['after']): string | null =>
  form === null ? null : String(form.companyFormCode);

/** Lists that are complete if a payload that states the whole company updates them, by event. */
const WHOLE_LISTS = {
  altNames: 'altNames',
  altIndustries: 'altIndustries',
  ownership: 'owners',
  trueOwnership: 'trueOwners',
  trueVoteRights: 'trueVoteRights',
  accountant: 'accountant',
  board: 'board',
  management: 'management',
  stakeholders: 'stakeholders',
} as const satisfies Partial<Record<EventName, FieldName>>;

const wholeListOf = (event: EventName): FieldName | undefined =>
  Object.hasOwn(WHOLE_LISTS, event) ? WHOLE_LISTS[event as keyof typeof WHOLE_LISTS] : undefined;

const STATED_LISTS: ReadonlySet<FieldName> = new Set(Object.values(WHOLE_LISTS));

/** Whether a payload that states the whole company can complete this list. */
export const isStatedWhole = (field: FieldName): boolean => STATED_LISTS.has(field);

/** Events that do not change the company in the register. */
const NOT_REGISTER: ReadonlySet<string> = new Set(['newArticle', 'addedToMonitor', 'removedFromMonitor']);

const isFromRegister = ({ updates, unknown, malformed }: Payload): boolean =>
  [...Object.keys(updates), ...Object.keys(unknown), ...malformed.map(({ event }) => event)].some(
    (event) => !NOT_REGISTER.has(event),
  );

/**
 * All assertions of a payload, with their clocks. An event that is not updated states nothing, also in a payload that
 * states the whole company: a list without an update is unknown, not empty.
 */
export function extract(payload: Payload): readonly Assertion[] {
  const { timestamp } = payload;
  const isWhole = statesWholeCompany(payload);
  const assertions: AssertedChange[] = isFromRegister(payload) ? [{ field: 'registerChangedAt', now: timestamp }] : [];
  for (const event of payload.stated) {
    if (payload.updates[event] === undefined) continue;
    const about = fieldUpdates(event, payload).map((each) => (isWhole ? statedWhole(each) : each));
    const list = isWhole ? wholeListOf(event) : undefined;
    if (list === undefined) assertions.push(...about);
    else
      assertions.push({
        field: list,
        added: about.flatMap((each) => (isMembers(each) ? each.added : [])),
        removed: [],
        whole: true,
      });
  }
  return (
    assertions
      // Only `newCompany` repeats what another event, `name`, states better.
      .filter((each, at) => isMembers(each) || assertions.findIndex(({ field }) => field === each.field) === at)
      .map((each) => ({ ...each, clock: clockOf(each, timestamp) }))
  );
}

/** A figure in a payload that states the whole company is the latest. */
const statedWhole = (change: AssertedChange): AssertedChange =>
  isMembers(change) || change.figure === undefined ? change : { ...change, figure: { ...change.figure, whole: true } };

/** The assertions of one event; none if it is not updated. */
export function fieldUpdates<E extends EventName>(event: E, payload: Payload): readonly AssertedChange[] {
  const data = payload.updates[event] as EventData<E> | undefined; // TypeScript cannot see that the key picks the type
  return data === undefined || leavesUnknown(event, data) ? [] : EXTRACT[event](data, payload);
}

/** Clocks of one field compare as text: the period first, if there is one, then the register's time. */
const clockOf = (assertion: AssertedChange, timestamp: string): string =>
  !isMembers(assertion) && assertion.period !== undefined ? `${assertion.period}@${timestamp}` : timestamp;
