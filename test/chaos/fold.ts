/**
 * What a record must hold in the end, worked out from the sample companies alone: a second opinion that shares no code
 * with the connector.
 */
import type { FieldName } from '../../providers/fields.ts';
import type { PropertyValue } from '../../providers/provider.ts';
import type { ReportData } from '../../src/protocol/report.ts';
import type { Sample } from '../support/sample-stream.ts';

type Company = Sample['company'];

/** The last word on each company: its state, and when the register last told a change that is kept. */
export interface Last {
  readonly company: Company;
  readonly changedAt: string;
}

/** Events that are no change of the register, or one that is left out: no legal basis is named here. */
const NO_CHANGE_TOLD = ['newArticle', 'addedToMonitor', 'removedFromMonitor', 'trueOwnership', 'trueVoteRights'];

/** Folds samples by their own time, whatever order they are in. */
export function foldSamples(samples: readonly Sample[]): ReadonlyMap<string, Last> {
  const last = new Map<string, Last>();
  for (const { payload, company } of samples.toSorted((a, b) => (a.payload.timestamp < b.payload.timestamp ? -1 : 1))) {
    const isChange = Object.keys(payload.updates).some((event) => !NO_CHANGE_TOLD.includes(event));
    const before = last.get(payload.entityId)?.changedAt ?? payload.timestamp;
    last.set(payload.entityId, { company, changedAt: isChange ? payload.timestamp : before });
  }
  return last;
}

const figure = (report: ReportData | null, name: 'revenue' | 'grossResult' | 'result' | 'equity'): number | null =>
  report?.[name]?.value ?? null;

function street({ address }: Company): string {
  const { streetName, houseNumberFrom, houseLetterFrom, floor, sideDoor } = address;
  const harness = `${streetName} ${houseNumberFrom}${houseLetterFrom ?? ''}`;
  const door = [floor === null ? null : `${floor}.`, sideDoor].filter((part) => part !== null).join(' ');
  return door === '' ? harness : `${harness}, ${door}`;
}

const EXPECTED: Readonly<Partial<Record<FieldName, (last: Last) => PropertyValue>>> = {
  name: ({ company }) => company.name,
  status: ({ company }) => company.status,
  form: ({ company }) => company.form.shortDescription,
  street: ({ company }) => street(company),
  coName: ({ company }) => company.address.coName,
  postalCode: ({ company }) => String(company.address.postalCode),
  city: ({ company }) => company.address.postalDistrict,
  region: () => null,
  municipality: ({ company }) => company.address.municipality?.name ?? null,
  countryCode: () => 'DK',
  country: () => 'Denmark',
  industryCode: ({ company }) => company.industry.industryCode,
  industryText: ({ company }) => company.industry.industryText,
  purpose: ({ company }) => company.purpose,
  email: ({ company }) => company.email,
  phone: ({ company }) => company.phoneNumber,
  fax: ({ company }) => company.fax,
  website: ({ company }) => company.website,
  employees: ({ company }) => company.monthly.count,
  employeesQuarterly: ({ company }) => company.quarterly.interval,
  capital: ({ company }) => company.capital.value,
  capitalCurrency: ({ company }) => company.capital.currency,
  startDate: ({ company }) => company.started.slice(0, 10),
  endDate: () => null,
  advertisingProtected: ({ company }) => company.commercialProtection,
  reportYear: ({ company }) => company.report?.reportYear ?? null,
  reportCurrency: ({ company }) => company.report?.currencies[0] ?? null,
  reportUrl: ({ company }) => company.report?.reportUrl ?? null,
  revenue: ({ company }) => figure(company.report, 'revenue'),
  grossResult: ({ company }) => figure(company.report, 'grossResult'),
  result: ({ company }) => figure(company.report, 'result'),
  equity: ({ company }) => figure(company.report, 'equity'),
  registerChangedAt: ({ changedAt }) => changedAt,
  // No address of the dashboard is configured.
  dashboardUrl: () => null,
  composed: () => null,
};

/** The value a field must have. Throws for a field nobody has thought of, so that none goes unchecked. */
export function expectedValue(field: FieldName, last: Last): PropertyValue {
  const of = EXPECTED[field];
  if (of === undefined) throw new Error(`no expectation for the field ${field}: add it to the table`);
  return of(last);
}

/** A value in a spelling that both CRMs share: they keep phones and times each in their own way. */
export function plain(field: FieldName, value: PropertyValue | undefined): string {
  if (value === null || value === undefined || value === '') return '';
  if (field === 'phone' || field === 'fax') return String(value).replace(/\D/g, '').slice(-8);
  if (field === 'registerChangedAt') return new Date(String(value)).toISOString().slice(0, 19);
  return String(value);
}
