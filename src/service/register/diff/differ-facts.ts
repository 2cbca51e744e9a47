/** Differs of a company's own facts: name, address, industry, capital, contacts, status, life, employees. */
import type { EventData } from '../../../protocol/events.ts';
import type { Address, Capital, CompanyForm, Industry } from '../../../protocol/formats.ts';
import type { AltIndustry, Company } from '../document/company.ts';
import type { Employment } from '../document/employment.ts';
import {
  changed,
  type Differ,
  type DiffOptions,
  type FoundChange,
  type IndustryChange,
  listChanged,
  missing,
} from './differ.ts';

const ADDRESS_KEYS = [
  'countryCode',
  'freeText',
  'roadCode',
  'houseNumberFrom',
  'houseNumberTo',
  'houseLetterFrom',
  'houseLetterTo',
  'floor',
  'sideDoor',
  'coName',
  'postalBox',
  'streetName',
  'cityName',
  'postalCode',
  'postalDistrict',
] as const;

/** Ignores a new period or a validation, which is not a move. */
export const isSameAddress = (a: Address, b: Address): boolean =>
  ADDRESS_KEYS.every((key) => a[key] === b[key]) && a.municipality?.code === b.municipality?.code;

const isSameIndustry = (a: Industry, b: Industry): boolean =>
  a.industryCode === b.industryCode && a.industryText === b.industryText;

const isSameCapital = (a: Capital, b: Capital): boolean => a.value === b.value && a.currency === b.currency;

const isSameForm = (a: CompanyForm, b: CompanyForm): boolean =>
  a.companyFormCode === b.companyFormCode && a.longDescription === b.longDescription;

const recodingOf = (before: Industry | null, after: Industry | null): IndustryChange | undefined =>
  before === null || after === null || isSameIndustry(before, after)
    ? undefined
    : { before: before.industryCode, after: after.industryCode, from: after.period?.from?.slice(0, 10) ?? null };

const inPlace = (list: readonly AltIndustry[], place: number): Industry | null =>
  list.find((each) => each.place === place)?.industry ?? null;

/** All changes of a company's industry codes, to count them for a recoding. */
export const industryChangesOf = (
  before: Pick<Company, 'industry'> & Partial<Pick<Company, 'altIndustries'>>,
  after: Pick<Company, 'industry'> & Partial<Pick<Company, 'altIndustries'>>,
): readonly IndustryChange[] => {
  const [was, is] = [before.altIndustries?.value ?? [], after.altIndustries?.value ?? []];
  const pairs = is.map(({ place, industry }) => recodingOf(inPlace(was, place), industry));
  return [recodingOf(before.industry.value, after.industry.value), ...pairs].filter((each) => each !== undefined);
};

/** As {@link changed}, but ignores a recoding of the register. */
export const industryChanged = (
  before: Company['industry'],
  after: Company['industry'],
  { isRecoded }: Pick<DiffOptions, 'isRecoded'>,
) => {
  const change = recodingOf(before.value, after.value);
  return change !== undefined && isRecoded(change) ? undefined : changed(before, after, isSameIndustry);
};

export const altIndustriesChanged = (
  was: Company['altIndustries'],
  is: Company['altIndustries'],
  { isRecoded }: Pick<DiffOptions, 'isRecoded'>,
): FoundChange<'altIndustries'> | undefined => {
  const recoded = is.value.filter(({ place, industry }) => {
    const change = recodingOf(inPlace(was.value, place), industry);
    return change !== undefined && isRecoded(change);
  });
  const kept = (list: readonly AltIndustry[]) =>
    list.filter(({ place }) => !recoded.some((each) => each.place === place));
  const codeOf = ({ industry }: AltIndustry): string => industry.industryCode;
  const found = listChanged({ ...was, value: kept(was.value) }, { ...is, value: kept(is.value) }, codeOf);
  if (found === undefined) return undefined;
  const once = (list: readonly AltIndustry[]): Industry[] => [
    ...new Map(list.map(({ industry }) => [industry.industryCode, industry])).values(),
  ];
  const added = missing(found.data.added, was.value, codeOf);
  const removed = missing(found.data.removed, is.value, codeOf);
  if (added.length + removed.length === 0) return undefined;
  return { ...found, data: { added: once(added), removed: once(removed) } };
};

/** Also reports a figure of an earlier period: the register withdrew the later one. */
const employment = <T extends string | number>(before: Employment<T> | null, after: Employment<T> | null) => {
  if (after === null || before?.value === after.value) return undefined;
  return { before: before?.value ?? null, after: after.value, year: after.year, number: after.number, at: [after.at] };
};

export const FACT_DIFFERS = {
  name: (before, after) => changed(before.names, after.names),
  altNames: (before, after) => listChanged(before.altNames, after.altNames, (name) => name),
  address: (before, after) => changed(before.address, after.address, isSameAddress),
  industry: (before, after, options) => industryChanged(before.industry, after.industry, options),
  altIndustries: (before, after, options) => altIndustriesChanged(before.altIndustries, after.altIndustries, options),
  purpose: (before, after) => changed(before.purpose, after.purpose),
  powerToBind: (before, after) => changed(before.powerToBind, after.powerToBind),
  bylawsChangedDate: (before, after) => changed(before.bylawsChangedDate, after.bylawsChangedDate),
  capital: (before, after) => changed(before.capital, after.capital, isSameCapital),
  form: (before, after) => changed(before.form, after.form, isSameForm),
  email: (before, after) => changed(before.email, after.email),
  fax: (before, after) => changed(before.fax, after.fax),
  phoneNumber: (before, after) => changed(before.phoneNumber, after.phoneNumber),
  website: (before, after) => changed(before.website, after.website),
  status: (before, after) => changed(before.status, after.status),
  lifetimeStarted: (before, after) => {
    const [was, { started, ended }] = [before.life.value, after.life.value];
    const reopened = was.ended !== null && ended === null;
    if (started === null || (started === was.started && !reopened)) return undefined;
    return { data: { date: started }, at: [after.life.at] };
  },
  lifetimeEnded: (before, after) => {
    const [was, { started, ended }] = [before.life.value, after.life.value];
    // Another life that has also ended is reported whole, even with the same last day.
    if (ended === null || (ended === was.ended && started === was.started)) return undefined;
    return { data: { date: ended }, at: [after.life.at] };
  },
  commercialProtection: (before, after) => {
    // The register keeps no history of this: the document's own time is the closest.
    const found = changed(before.commercialProtection, after.commercialProtection);
    return found === undefined ? undefined : { ...found, at: [after.commercialProtection.at] };
  },
  monthlyEmployeeCount: (before, after) => {
    const found = employment(before.monthly, after.monthly);
    if (found === undefined) return undefined;
    const { year, number, at, ...values } = found;
    const data: EventData<'monthlyEmployeeCount'> = { year, month: number, ...values };
    return { data, at };
  },
  quarterlyEmployees: (before, after) => {
    const found = employment(before.quarterly, after.quarterly);
    if (found === undefined) return undefined;
    const { year, number, at, ...values } = found;
    const data: EventData<'quarterlyEmployees'> = { year, quarter: number, ...values };
    return { data, at };
  },
  yearlyEmployees: (before, after) => {
    const found = employment(before.yearly, after.yearly);
    if (found === undefined) return undefined;
    const { before: was, after: is, year, at } = found;
    return { data: { year, before: was, after: is }, at };
  },
} as const satisfies { readonly [E in FactEvent]: Differ<E> };

type FactEvent =
  | 'name'
  | 'altNames'
  | 'address'
  | 'industry'
  | 'altIndustries'
  | 'purpose'
  | 'powerToBind'
  | 'bylawsChangedDate'
  | 'capital'
  | 'form'
  | 'email'
  | 'fax'
  | 'phoneNumber'
  | 'website'
  | 'status'
  | 'lifetimeStarted'
  | 'lifetimeEnded'
  | 'commercialProtection'
  | 'monthlyEmployeeCount'
  | 'quarterlyEmployees'
  | 'yearlyEmployees';
