/** Makes one plausible change of a sample company for each event, with the state before and after. */
import type { EventName } from '../events.ts';
import type { Entity } from '../formats.ts';
import type { Updates } from '../payload.ts';
import { type SampleCompany, samplePhone, slugOf } from './company.ts';
import * as parts from './parts.ts';
import type { Random } from './random.ts';
import { sampleReport } from './report.ts';
import * as words from './words.ts';

interface SampleChange {
  readonly updates: Updates;
  readonly company: SampleCompany;
}

type Changer = (company: SampleCompany, random: Random, at: string) => SampleChange;

const midnight = (at: string): string => `${at.slice(0, 10)}T00:00:00`;
const otherThan = (value: string, list: readonly [string, ...string[]], random: Random): string => {
  const picked = random.pick(list);
  return picked === value ? (list[(list.indexOf(value) + 1) % list.length] ?? value) : picked;
};

const yearOf = (at: string): number => Number(at.slice(0, 4));
/** Whether a month had begun: a future month has no number of employees. */
const hasBegun = (year: number, month: number, at: string): boolean =>
  `${year}-${String(month).padStart(2, '0')}` <= at.slice(0, 7);

/** Swaps one member of a list for a new one, or adds one if there are fewer than two. */
const swapOne = <T extends Entity>(list: readonly T[], member: T, random: Random) => {
  const leaver = list.length < 2 ? undefined : list[random.int(0, list.length - 1)];
  const stay = list.filter(({ entityId }) => entityId !== leaver?.entityId && entityId !== member.entityId);
  const removed = list.filter(({ entityId }) => entityId === leaver?.entityId && entityId !== member.entityId);
  return { data: { added: [member], removed }, list: [...stay, member] };
};

/** Changes one member's share, or swaps a member if there is no share to change. */
const swapOrShift = <T extends Entity>(list: readonly T[], member: T, share: (from: T) => T, random: Random) => {
  const [first, ...others] = list;
  if (first === undefined || random.chance(0.5)) {
    const swapped = swapOne(list, member, random);
    return { data: { ...swapped.data, changed: [] }, list: swapped.list };
  }
  const shifted = share(first);
  return { data: { added: [], removed: [], changed: [shifted] }, list: [shifted, ...others] };
};

const company =
  (change: (company: SampleCompany, random: Random, at: string) => [Updates, Partial<SampleCompany>]): Changer =>
  (before, random, at) => {
    const [updates, after] = change(before, random, at);
    return { updates, company: { ...before, ...after } };
  };

const stemOf = (name: string): string => name.split(' ').slice(0, -1).join(' ');
const shareOf = (random: Random): string => random.pick(words.SHARES);
const preciseShare = (random: Random): string => `${random.int(26, 99)}.25`;

export const CHANGES: Readonly<Record<EventName, Changer>> = {
  name: company((c, random) => {
    const after = `${random.pick(words.STEMS)} ${random.pick(words.TRADES)} ${random.int(2, 999)} ${c.form.shortDescription}`;
    return [{ name: { before: c.name, after } }, { name: after }];
  }),
  altNames: company((c, random) => {
    const added = [`${stemOf(c.name)} ${random.pick(words.TRADES)} ${random.int(2, 999)}`].filter(
      (name) => !c.altNames.includes(name),
    );
    const removed = c.altNames.slice(0, 1);
    return [{ altNames: { added, removed } }, { altNames: [...c.altNames.slice(1), ...added] }];
  }),
  address: company((c, random, at) => {
    const after = parts.sampleAddress(random, at.slice(0, 10));
    return [{ address: { before: c.address, after } }, { address: after }];
  }),
  industry: company((c, random, at) => {
    const after = parts.sampleIndustry(random, at.slice(0, 10));
    return [{ industry: { before: c.industry, after } }, { industry: after }];
  }),
  altIndustries: company((c, random, at) => {
    const industry = parts.sampleIndustry(random, at.slice(0, 10));
    const added = [industry].filter(
      ({ industryCode }) => !c.altIndustries.some((known) => known.industryCode === industryCode),
    );
    const removed = c.altIndustries.slice(2);
    return [{ altIndustries: { added, removed } }, { altIndustries: [...c.altIndustries.slice(0, 2), ...added] }];
  }),
  purpose: company((c, random) => {
    const after = otherThan(c.purpose, words.PURPOSES, random);
    return [{ purpose: { before: c.purpose, after } }, { purpose: after }];
  }),
  powerToBind: company((c, random) => {
    const after = otherThan(c.powerToBind, words.BINDING, random);
    return [{ powerToBind: { before: c.powerToBind, after } }, { powerToBind: after }];
  }),
  bylawsChangedDate: company((c, _, at) => {
    const after = midnight(at);
    return [{ bylawsChangedDate: { before: c.bylawsChangedDate, after } }, { bylawsChangedDate: after }];
  }),
  capital: company((c, random) => {
    const after = { ...c.capital, value: c.capital.value + random.int(1, 50) * 1_000 };
    return [{ capital: { before: c.capital, after } }, { capital: after }];
  }),
  form: company((c, random, at) => {
    const after = parts.sampleForm(random, at.slice(0, 10));
    return [{ form: { before: c.form, after } }, { form: after }];
  }),
  email: company((c, random) => {
    const after = random.chance(0.1) ? null : `post${random.int(1, 99)}@${slugOf(stemOf(c.name))}.example`;
    return [{ email: { before: c.email, after } }, { email: after }];
  }),
  fax: company((c, random) => {
    const after = random.chance(0.5) ? null : samplePhone(random);
    return [{ fax: { before: c.fax, after } }, { fax: after }];
  }),
  phoneNumber: company((c, random) => {
    const after = random.chance(0.1) ? null : samplePhone(random);
    return [{ phoneNumber: { before: c.phoneNumber, after } }, { phoneNumber: after }];
  }),
  website: company((c, random) => {
    const after = random.chance(0.1) ? null : `www.${slugOf(stemOf(c.name))}${random.int(1, 99)}.example`;
    return [{ website: { before: c.website, after } }, { website: after }];
  }),
  newReport: company((c, random, at) => {
    const reportYear = Math.min((c.report?.reportYear ?? 2023) + 1, yearOf(at));
    const report = sampleReport(random, c.entityId.slice(6), c.name, reportYear);
    return [{ newReport: { data: report } }, { report }];
  }),
  newCompany: company((c) => [{ newCompany: { entity: { entityId: c.entityId, name: c.name, type: 'Company' } } }, {}]),
  ownership: company((c, random) => {
    const { data, list } = swapOrShift(
      c.ownership,
      parts.sampleOwner(random),
      (from) => ({ ...from, ownership: shareOf(random) }),
      random,
    );
    return [{ ownership: data }, { ownership: list }];
  }),
  trueOwnership: company((c, random) => {
    const shift = <T>(from: T) => ({ ...from, ownership: preciseShare(random) });
    const { data, list } = swapOrShift(c.trueOwnership, parts.sampleTrueOwner(random), shift, random);
    return [{ trueOwnership: data }, { trueOwnership: list }];
  }),
  trueVoteRights: company((c, random) => {
    const shift = <T>(from: T) => ({ ...from, voterights: preciseShare(random) });
    const { data, list } = swapOrShift(c.trueVoteRights, parts.sampleVoter(random), shift, random);
    return [{ trueVoteRights: data }, { trueVoteRights: list }];
  }),
  accountant: company((c, random) => {
    const auditor = parts.sampleFirm(random, 'Kladde Revision');
    return [{ accountant: { added: [auditor], removed: [...c.accountant] } }, { accountant: [auditor] }];
  }),
  board: company((c, random) => {
    const { data, list } = swapOne(c.board, parts.samplePerson(random), random);
    return [{ board: data }, { board: list }];
  }),
  management: company((c, random) => {
    const { data, list } = swapOne(c.management, parts.samplePerson(random), random);
    return [{ management: data }, { management: list }];
  }),
  status: company((c, random) => {
    const after = otherThan(c.status, words.STATUSES, random);
    return [{ status: { before: c.status, after } }, { status: after }];
  }),
  lifetimeStarted: company((_, __, at) => [{ lifetimeStarted: { date: midnight(at) } }, { started: midnight(at) }]),
  lifetimeEnded: company((_, __, at) => [{ lifetimeEnded: { date: midnight(at) } }, { ended: midnight(at) }]),
  stakeholders: company((c, random) => {
    const { data, list } = swapOne(c.stakeholders, parts.samplePerson(random), random);
    return [{ stakeholders: data }, { stakeholders: list }];
  }),
  merger: company((_, random) => {
    const merger = { entity: parts.sampleFirm(random), dissolved: true };
    return [{ merger }, { merger }];
  }),
  pUnitUpdated: company((c, random) => [
    { pUnitUpdated: { entity: c.pUnits[0] ?? parts.samplePlace(random, c.name) } },
    {},
  ]),
  pUnitAdded: company((c, random) => {
    const name = `${stemOf(c.name)} ${random.pick(words.PLACES).district}`;
    const unit = parts.samplePlace(random, name, c.pUnits[0]?.type);
    const others = c.pUnits.filter(({ entityId }) => entityId !== unit.entityId);
    return [{ pUnitAdded: { entity: unit } }, { pUnits: [...others, unit] }];
  }),
  pUnitRemoved: company((c, random) => {
    const unit = c.pUnits[0] ?? parts.samplePlace(random, c.name);
    return [{ pUnitRemoved: { entity: unit } }, { pUnits: c.pUnits.slice(1) }];
  }),
  subsidiaryFounded: company((_, random) => [
    { subsidiaryFounded: { ownership: { ...parts.sampleFirm(random), ownership: shareOf(random) } } },
    {},
  ]),
  commercialProtection: company((c) => {
    const after = !c.commercialProtection;
    return [{ commercialProtection: { before: c.commercialProtection, after } }, { commercialProtection: after }];
  }),
  monthlyEmployeeCount: company((c, random, at) => {
    const { year, month, count } = c.monthly;
    const next = { year: month === 12 ? year + 1 : year, month: (month % 12) + 1 };
    const monthly = {
      ...(hasBegun(next.year, next.month, at) ? next : { year, month }),
      count: count + random.int(1, 9),
    };
    const data = { year: monthly.year, month: monthly.month, before: count, after: monthly.count };
    return [{ monthlyEmployeeCount: data }, { monthly }];
  }),
  quarterlyEmployees: company((c, random, at) => {
    const { year, quarter, interval } = c.quarterly;
    const after = otherThan(interval, words.INTERVALS, random);
    const next = { year: quarter === 4 ? year + 1 : year, quarter: (quarter % 4) + 1 };
    const begun = hasBegun(next.year, next.quarter * 3 - 2, at) ? next : { year, quarter };
    const quarterly = { ...begun, interval: after };
    const data = { year: quarterly.year, quarter: quarterly.quarter, before: interval, after };
    return [{ quarterlyEmployees: data }, { quarterly }];
  }),
  yearlyEmployees: company((c, random, at) => {
    const year = Math.min(c.yearly.year + 1, yearOf(at));
    const yearly = { year, interval: otherThan(c.yearly.interval, words.INTERVALS, random) };
    return [{ yearlyEmployees: { year: yearly.year, before: c.yearly.interval, after: yearly.interval } }, { yearly }];
  }),
  newArticle: company((c, random, at) => {
    const headline = `${c.name} ${random.pick(words.ARTICLES)}`;
    const link = `https://press.example/${slugOf(c.name)}-${random.int(1, 9999)}`;
    const newArticle = {
      source: 'Opdigtet Presse',
      headline,
      tagline: null,
      content: `<p>${headline}</p>`,
      time: at,
      link,
    };
    return [{ newArticle }, { newArticle }];
  }),
  addedToMonitor: company(() => [{ addedToMonitor: MONITOR }, {}]),
  removedFromMonitor: company(() => [{ removedFromMonitor: MONITOR }, {}]),
};

const MONITOR = { monitorId: '5a3c1e7a-0000-4000-8000-000000000001', monitorName: 'Sample companies' };
