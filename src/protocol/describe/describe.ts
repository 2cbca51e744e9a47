/** Describes changes in Danish for people: a title for each event, and lines with the values before and after. */

import { EVENT_NAMES, type EventData, type EventName, leavesUnknown } from '../events.ts';
import type { Entity, Owner, Voter } from '../formats.ts';
import { resolveTokens } from '../news.ts';
import type { Updates } from '../payload.ts';
import type { NumberMetric, ReportData } from '../report.ts';
import { joinLines } from '../text/trim.ts';
import {
  addressText,
  capitalText,
  dateText,
  formText,
  industryText,
  moneyText,
  monthText,
  numberText,
  sentenceText,
  shareText,
  timeText,
  yesText,
} from './danish.ts';

/** One changed thing. `before` is null if there was nothing or it is unknown, `after` if nothing is left. */
export interface DescribedLine {
  readonly label: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly link?: string;
}

export interface Description {
  readonly event: EventName;
  readonly title: string;
  readonly lines: readonly DescribedLine[];
}

export interface DescribeOptions {
  /** Shares before the change, as in a Change: a legal owner's by its entity id, others' by `<event> <id>`. */
  readonly formerShares?: Readonly<Record<string, string>> | undefined;
  readonly nameless?: ((entity: Entity) => boolean) | undefined;
}

/** A line as plain text: `Status: Normal → Under konkurs`; further lines and the link are indented. */
export function lineText({ label, before, after, link }: DescribedLine): string {
  const value = before !== null && after !== null ? `${before} → ${after}` : (after ?? before ?? '');
  const text = value === '' ? label : `${label}: ${joinLines(value, '\n    ')}`;
  return link === undefined ? text : `${text}\n    ${link}`;
}

type Describe<E extends EventName> = (data: EventData<E>, options: DescribeOptions) => readonly DescribedLine[];
type Entry<E extends EventName> = readonly [title: string, describe: Describe<E>];

export function describeUpdates(updates: Updates, options: DescribeOptions = {}): readonly Description[] {
  return EVENT_NAMES.flatMap((event) => describeOne(event, updates, options));
}

function describeOne<E extends EventName>(event: E, updates: Updates, options: DescribeOptions): Description[] {
  const data: Updates[E] = updates[event];
  const [title, describe]: Entry<E> = TABLE[event];
  return data === undefined || leavesUnknown(event, data) ? [] : [{ event, title, lines: describe(data, options) }];
}

/** A value before and after; a deleted value changes the label. */
const change =
  <T>(label: string, text: (value: T) => string) =>
  (data: { readonly before: T | null; readonly after: T | null }): readonly DescribedLine[] => {
    const [before, after] = [data.before, data.after].map(
      (value) => (value === null ? '' : text(value)).trim() || null,
    );
    return [{ label: after === null ? `${label} slettet` : label, before: before ?? null, after: after ?? null }];
  };

const same = (text: string): string => text;

const list =
  <T>(added: string, removed: string, text: (value: T) => string) =>
  (data: { readonly added: readonly T[]; readonly removed: readonly T[] }): readonly DescribedLine[] => [
    ...data.added.map((one): DescribedLine => ({ label: added, before: null, after: text(one) })),
    ...data.removed.map((one): DescribedLine => ({ label: removed, before: text(one), after: null })),
  ];

const nameOf = ({ name, entityId }: Entity): string => name ?? entityId;

const withShare = (entity: Entity, share: string | null): string =>
  share === null ? nameOf(entity) : `${nameOf(entity)} (${shareText(share)})`;

const members: Describe<'board'> = (data, options) => {
  const { added, removed, renamed } = renamedIn(data);
  const [came, went] = [split(added, options), split(removed, options)];
  const named = list<Entity>('Tiltrådt', 'Fratrådt', nameOf)({ added: came.named, removed: went.named });
  const others = renamed.filter(({ after }) => options.nameless?.(after) !== true);
  const names = others.map(
    ({ before, after }): DescribedLine => ({ label: 'Nyt navn', before: nameOf(before), after: nameOf(after) }),
  );
  const nameless = counted(
    [came.nameless, 'tiltrådt', 'tiltrådt'],
    [went.nameless, 'fratrådt', 'fratrådt'],
    [renamed.length - others.length, 'med nyt navn', 'med nyt navn'],
  );
  return [...named, ...names, ...nameless];
};

/** Separates new, former and renamed members: a renamed one is added and removed in the same event. */
export function renamedIn<T extends Entity>(data: { readonly added: readonly T[]; readonly removed: readonly T[] }) {
  const formerly = new Map(data.removed.map((one) => [one.entityId, one]));
  const renamed = data.added.flatMap((after) => {
    const before = formerly.get(after.entityId);
    return before === undefined || before.name === after.name ? [] : [{ before, after }];
  });
  const isRenamed = ({ entityId }: T) => renamed.some(({ after }) => after.entityId === entityId);
  const others = (list: readonly T[]) => list.filter((one) => !isRenamed(one));
  return { added: others(data.added), removed: others(data.removed), renamed };
}

function split<T extends Entity>(all: readonly T[], { nameless = () => false }: DescribeOptions) {
  const named = all.filter((one) => !nameless(one));
  return { named, nameless: all.length - named.length };
}

/** Counts unnamed people: `2 nye, 1 udgået`. */
function counted(
  ...counts: readonly (readonly [count: number, one: string, more: string])[]
): readonly DescribedLine[] {
  const parts = counts
    .filter(([count]) => count > 0)
    .map(([count, one, more]) => `${count} ${count === 1 ? one : more}`);
  return parts.length === 0 ? [] : [{ label: 'Personer', before: null, after: parts.join(', ') }];
}

function shares<T extends Entity>(
  data: { readonly added: readonly T[]; readonly removed: readonly T[]; readonly changed: readonly T[] },
  shareOf: (one: T) => string | null,
  event: EventName,
  options: DescribeOptions,
): readonly DescribedLine[] {
  const { formerShares = {} } = options;
  const [added, removed, changed] = [
    split(data.added, options),
    split(data.removed, options),
    split(data.changed, options),
  ];
  const formerOf = ({ entityId }: T) => formerShares[event === 'ownership' ? entityId : `${event} ${entityId}`] ?? null;
  const text = (one: T): string => withShare(one, shareOf(one));
  const left = (one: T): string => withShare(one, shareOf(one) ?? formerOf(one));
  return [
    ...added.named.map((one): DescribedLine => ({ label: 'Ny', before: null, after: text(one) })),
    ...removed.named.map((one): DescribedLine => ({ label: 'Udgået', before: left(one), after: null })),
    ...changed.named.map((one): DescribedLine => {
      const former = formerOf(one);
      const share = shareOf(one);
      if (former !== null && former === share) return { label: 'Nyt navn', before: null, after: text(one) };
      return {
        label: nameOf(one),
        before: former === null ? null : shareText(former),
        after: share === null ? null : shareText(share),
      };
    }),
    ...counted(
      [added.nameless, 'ny', 'nye'],
      [removed.nameless, 'udgået', 'udgåede'],
      [changed.nameless, 'ændret', 'ændrede'],
    ),
  ];
}

const owners =
  (event: 'ownership' | 'trueOwnership'): Describe<typeof event> =>
  (data, options) =>
    shares<Owner>(data, ({ ownership }) => ownership, event, options);

const reference = ({ entity }: { readonly entity: Entity }, options: DescribeOptions): readonly DescribedLine[] =>
  named({ label: 'Navn', before: null, after: nameOf(entity) }, entity, options);

const named = (
  line: DescribedLine,
  entity: Entity,
  { nameless = () => false }: DescribeOptions,
): readonly DescribedLine[] => (nameless(entity) ? [] : [line]);

const TABLE: { readonly [E in EventName]: Entry<E> } = {
  name: ['Navn', change('Navn', same)],
  altNames: ['Binavne', list<string>('Nyt binavn', 'Slettet binavn', same)],
  address: ['Adresse', change('Adresse', addressText)],
  industry: ['Branche', change('Branche', industryText)],
  altIndustries: ['Bibrancher', list('Ny bibranche', 'Slettet bibranche', industryText)],
  purpose: ['Formål', change('Formål', same)],
  powerToBind: ['Tegningsregel', change('Tegningsregel', same)],
  bylawsChangedDate: ['Vedtægter senest ændret', change('Vedtægter senest ændret', dateText)],
  capital: ['Selskabskapital', change('Selskabskapital', capitalText)],
  form: ['Virksomhedsform', change('Virksomhedsform', formText)],
  email: ['E-mail', change('E-mail', same)],
  fax: ['Telefax', change('Telefax', same)],
  phoneNumber: ['Telefon', change('Telefon', same)],
  website: ['Hjemmeside', change('Hjemmeside', same)],
  newReport: ['Nyt regnskab', ({ data }) => describeReport(data)],
  newCompany: ['Ny virksomhed', reference],
  ownership: ['Legale ejere', owners('ownership')],
  trueOwnership: ['Reelle ejerandele', owners('trueOwnership')],
  trueVoteRights: [
    'Reelle ejeres stemmerettigheder',
    (data, options) => shares<Voter>(data, ({ voterights }) => voterights, 'trueVoteRights', options),
  ],
  accountant: ['Revisor', members],
  board: ['Bestyrelse', members],
  management: ['Direktion', members],
  status: ['Status', change('Status', sentenceText)],
  lifetimeStarted: ['Virksomheden er startet', ({ date }) => [on(date)]],
  lifetimeEnded: ['Virksomheden er ophørt', ({ date }) => [on(date)]],
  stakeholders: ['Fuldt ansvarlige deltagere', members],
  merger: [
    'Fusion',
    ({ entity, dissolved }, options) => {
      const label = dissolved ? 'Ophørt ved fusion med' : 'Fusioneret med';
      return named({ label, before: null, after: nameOf(entity) }, entity, options);
    },
  ],
  pUnitUpdated: ['Produktionsenhed ændret', reference],
  pUnitAdded: ['Ny produktionsenhed', reference],
  pUnitRemoved: [
    'Produktionsenhed udgået',
    ({ entity }, options) => named({ label: 'Navn', before: nameOf(entity), after: null }, entity, options),
  ],
  subsidiaryFounded: [
    'Datterselskab stiftet',
    ({ ownership }, options) =>
      named({ label: 'Navn', before: null, after: withShare(ownership, ownership.ownership) }, ownership, options),
  ],
  commercialProtection: ['Reklamebeskyttelse', change('Reklamebeskyttelse', yesText)],
  monthlyEmployeeCount: ['Ansatte pr. måned', (data) => change(monthText(data.year, data.month), numberText)(data)],
  quarterlyEmployees: ['Ansatte pr. kvartal', (data) => change(`${data.quarter}. kvartal ${data.year}`, same)(data)],
  yearlyEmployees: ['Ansatte pr. år', (data) => change(String(data.year), same)(data)],
  newArticle: ['Ny artikel', describeArticle],
  addedToMonitor: ['Føjet til overvågning', ({ monitorName, monitorId }) => [monitor(monitorName ?? monitorId, true)]],
  removedFromMonitor: [
    'Fjernet fra overvågning',
    ({ monitorName, monitorId }) => [monitor(monitorName ?? monitorId, false)],
  ],
};

function on(date: string): DescribedLine {
  return { label: 'Dato', before: null, after: dateText(date) };
}

function monitor(name: string, isAdded: boolean): DescribedLine {
  return { label: 'Overvågning', before: isAdded ? null : name, after: isAdded ? name : null };
}

function describeArticle(article: EventData<'newArticle'>, { nameless }: DescribeOptions): readonly DescribedLine[] {
  const { source, time, link } = article;
  const resolve = (text: string): string =>
    resolveTokens(text, (entityId) => nameless?.({ entityId, name: null, type: null }) ?? false);
  const headline = resolve(article.headline);
  const tagline = article.tagline === null ? null : resolve(article.tagline);
  const isLink = link !== null && /^https?:\/\//i.test(link);
  return [
    { label: source ?? 'Artikel', before: null, after: headline, ...(isLink && { link }) },
    ...(tagline === null ? [] : [{ label: 'Resumé', before: null, after: tagline }]),
    ...(time === null ? [] : [{ label: 'Udgivet', before: null, after: timeText(time) }]),
  ];
}

interface ReportLine {
  readonly label: string;
  readonly before: null;
  readonly after: string;
  readonly link?: string;
}

const FIGURES: readonly (readonly [label: string, metric: (data: ReportData) => NumberMetric | null])[] = [
  ['Nettoomsætning', ({ revenue }) => revenue],
  ['Bruttofortjeneste', ({ grossResult }) => grossResult],
  ['Årets resultat', ({ result }) => result],
  ['Egenkapital', ({ equity }) => equity],
  ['Balancesum', ({ assets }) => assets],
  ['Ansatte', ({ employees }) => employees],
];

const TYPES: Readonly<Record<string, string>> = {
  yearly: 'Årsrapport',
  halfyearly: 'Halvårsrapport',
  quarterly: 'Kvartalsrapport',
};

/** Period and main figures, with a link to the report. Omits missing ones. */
function describeReport(data: ReportData): readonly ReportLine[] {
  const { reportType, reportUrl, reportYear, period } = data;
  const isLink = reportUrl !== null && /^https?:\/\//i.test(reportUrl);
  const { from = null, to = null } = period ?? {};
  const span =
    from !== null && to !== null ? `${dateText(from)} til ${dateText(to)}` : reportYear === null ? '' : `${reportYear}`;
  const label = TYPES[reportType?.toLowerCase() ?? ''] ?? 'Regnskab';
  const figures = FIGURES.flatMap(([name, metric]) => {
    const figure = figureText(metric(data));
    return figure === undefined ? [] : [{ label: name, before: null, after: figure }];
  });
  return [{ label, before: null, after: span || 'Offentliggjort', ...(isLink && { link: reportUrl }) }, ...figures];
}

function figureText(metric: NumberMetric | null): string | undefined {
  if (metric === null || metric.value === null || metric.error) return undefined;
  const { unit, value, possibleError } = metric;
  const isMoney = unit !== null && /^[A-Z]{3}$/.test(unit) && unit !== 'CVR';
  const text = isMoney ? moneyText(value, unit) : numberText(value);
  return possibleError ? `${text} (usikkert tal)` : text;
}
