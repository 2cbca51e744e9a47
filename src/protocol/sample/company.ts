/** Sample companies: everything that the register knows about one, and the payload that states it. */
import { companyEntityId } from '../entity-id.ts';
import type { EventData, EventName } from '../events.ts';
import type { Address, Capital, CompanyForm, Entity, Industry, Owner, Voter } from '../formats.ts';
import { type Payload, payloadOf, type Updates } from '../payload.ts';
import type { ReportData } from '../report.ts';
import * as parts from './parts.ts';
import { type Random, randomFrom } from './random.ts';
import { sampleReport } from './report.ts';
import * as words from './words.ts';

export interface SampleCompany {
  readonly entityId: string;
  readonly name: string;
  readonly altNames: readonly string[];
  readonly address: Address;
  readonly industry: Industry;
  readonly altIndustries: readonly Industry[];
  readonly purpose: string;
  readonly powerToBind: string;
  readonly bylawsChangedDate: string;
  readonly capital: Capital;
  readonly form: CompanyForm;
  readonly email: string | null;
  readonly fax: string | null;
  readonly phoneNumber: string | null;
  readonly website: string | null;
  readonly report: ReportData | null;
  readonly ownership: readonly Owner[];
  readonly trueOwnership: readonly Owner[];
  readonly trueVoteRights: readonly Voter[];
  readonly accountant: readonly Entity[];
  readonly board: readonly Entity[];
  readonly management: readonly Entity[];
  readonly stakeholders: readonly Entity[];
  readonly pUnits: readonly Entity[];
  readonly status: string;
  readonly started: string;
  readonly ended: string | null;
  readonly commercialProtection: boolean;
  readonly monthly: { readonly year: number; readonly month: number; readonly count: number };
  readonly quarterly: { readonly year: number; readonly quarter: number; readonly interval: string };
  readonly yearly: { readonly year: number; readonly interval: string };
  readonly merger: EventData<'merger'> | null;
  readonly newArticle: EventData<'newArticle'> | null;
}

const dateOf = (random: Random): string => `20${random.int(10, 24)}-0${random.int(1, 9)}-${random.int(10, 28)}`;

/** An unassigned number: Danish ones do not begin with 1. */
export const samplePhone = (random: Random): string => `10${random.int(100_000, 999_999)}`;

/** The name in a domain that nobody can register. */
export const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/æ/g, 'ae')
    .replace(/ø/g, 'oe')
    .replace(/å/g, 'aa')
    .replace(/[^a-z0-9]+/g, '');

export const sampleCompany = (seed = 1): SampleCompany => {
  const random = randomFrom(seed);
  const cvr = parts.sampleCvr(random);
  const started = dateOf(random);
  const form = parts.sampleForm(random, started);
  const stem = `${random.pick(words.STEMS)} ${random.pick(words.TRADES)}`;
  const name = `${stem} ${form.shortDescription}`;
  const domain = `${slugOf(stem)}.example`;
  return {
    entityId: companyEntityId(cvr),
    name,
    altNames: random.chance(0.4) ? [`${stem} Danmark`] : [],
    address: parts.sampleAddress(random, started),
    industry: parts.sampleIndustry(random, started),
    altIndustries: [],
    purpose: random.pick(words.PURPOSES),
    powerToBind: random.pick(words.BINDING),
    bylawsChangedDate: `${started}T00:00:00`,
    capital: { value: random.int(1, 20) * 40_000, currency: 'DKK', hasClasses: false, isPartial: false },
    form,
    email: random.chance(0.8) ? `kontakt@${domain}` : null,
    fax: random.chance(0.2) ? samplePhone(random) : null,
    phoneNumber: random.chance(0.9) ? samplePhone(random) : null,
    website: random.chance(0.7) ? `www.${domain}` : null,
    report: random.chance(0.6) ? sampleReport(random, cvr, name, 2024) : null,
    ownership: [parts.sampleOwner(random)],
    trueOwnership: [parts.sampleTrueOwner(random)],
    trueVoteRights: [parts.sampleVoter(random)],
    accountant: [parts.sampleFirm(random, 'Kladde Revision')],
    board: [parts.samplePerson(random), parts.samplePerson(random)],
    management: [parts.samplePerson(random)],
    stakeholders: [],
    pUnits: [parts.samplePlace(random, name)],
    status: 'NORMAL',
    started: `${started}T00:00:00`,
    ended: null,
    commercialProtection: random.chance(0.3),
    monthly: { year: 2025, month: random.int(1, 12), count: random.int(0, 120) },
    quarterly: { year: 2025, quarter: random.int(1, 4), interval: random.pick(words.INTERVALS) },
    yearly: { year: 2024, interval: random.pick(words.INTERVALS) },
    merger: null,
    newArticle: null,
  };
};

const fresh = <T>(after: T) => ({ before: null, after });
const listed = <T>(list: readonly T[]) => ({ added: [...list], removed: [] });
const shared = <T>(list: readonly T[]) => ({ ...listed(list), changed: [] });
/** The event with the written value; nothing for null or an empty list. */
const stated = <K extends EventName, T>(event: K, value: T | null, write: (value: T) => Updates[K]): Updates =>
  value === null || (Array.isArray(value) && value.length === 0) ? {} : { [event]: write(value) };

/** Everything about a company in one payload, as the service sends it after `sendUpdate=true`. */
export const fullStatePayload = (company: SampleCompany, timestamp: string): Payload => {
  const { monthly, quarterly, yearly } = company;
  const updates: Updates = {
    name: fresh(company.name),
    ...stated('altNames', company.altNames, listed),
    address: fresh(company.address),
    industry: fresh(company.industry),
    ...stated('altIndustries', company.altIndustries, listed),
    purpose: fresh(company.purpose),
    powerToBind: fresh(company.powerToBind),
    bylawsChangedDate: fresh(company.bylawsChangedDate),
    capital: fresh(company.capital),
    form: fresh(company.form),
    ...stated('email', company.email, fresh),
    ...stated('fax', company.fax, fresh),
    ...stated('phoneNumber', company.phoneNumber, fresh),
    ...stated('website', company.website, fresh),
    ...stated('newReport', company.report, (data) => ({ data })),
    ...stated('ownership', company.ownership, shared),
    ...stated('trueOwnership', company.trueOwnership, shared),
    ...stated('trueVoteRights', company.trueVoteRights, shared),
    ...stated('accountant', company.accountant, listed),
    ...stated('board', company.board, listed),
    ...stated('management', company.management, listed),
    ...stated('stakeholders', company.stakeholders, listed),
    status: fresh(company.status),
    lifetimeStarted: { date: company.started },
    ...stated('lifetimeEnded', company.ended, (date) => ({ date })),
    ...stated('merger', company.merger, (merger) => merger),
    commercialProtection: fresh(company.commercialProtection),
    monthlyEmployeeCount: { year: monthly.year, month: monthly.month, ...fresh(monthly.count) },
    quarterlyEmployees: { year: quarterly.year, quarter: quarterly.quarter, ...fresh(quarterly.interval) },
    yearlyEmployees: { year: yearly.year, ...fresh(yearly.interval) },
    ...stated('newArticle', company.newArticle, (article) => article),
  };
  return payloadOf(company.entityId, timestamp, updates);
};
