/** Writes invented annual reports, as instances and as pages, from the figures a test states. */

export interface Place {
  readonly id: string;
  /** Absent for an instant. */
  readonly start?: string;
  readonly end: string;
  /** Dimension to member, both as `cmn:Name`. */
  readonly members?: Readonly<Record<string, string>>;
  /** Dimension to text of a typed member. */
  readonly typed?: Readonly<Record<string, string>>;
  /** Where the dimensions stand; `scenario` in Denmark. */
  readonly within?: 'scenario' | 'segment';
  /** Whom it is about; the company of the report where absent. */
  readonly entity?: string;
}

export interface Said {
  /** As `fsa:Assets`. */
  readonly concept: string;
  readonly at: string;
  readonly value: string | number;
  /** Id of a unit; absent for a text. */
  readonly unit?: string;
  readonly decimals?: string;
  readonly lang?: string;
}

export interface Stated {
  readonly cvr: string;
  readonly places: readonly Place[];
  readonly facts: readonly Said[];
  /** Id to measure. */
  readonly units?: Readonly<Record<string, string>>;
  /** Prefixes to use instead of the usual ones. */
  readonly prefixes?: Readonly<Record<string, string>>;
}

const NAMESPACES: Readonly<Record<string, string>> = {
  fsa: 'http://xbrl.dcca.dk/fsa',
  gsd: 'http://xbrl.dcca.dk/gsd',
  cmn: 'http://xbrl.dcca.dk/cmn',
  arr: 'http://xbrl.dcca.dk/arr',
  mrv: 'http://xbrl.dcca.dk/mrv',
  'ifrs-full': 'https://xbrl.ifrs.org/taxonomy/2022-03-24/ifrs-full',
  'ifrs-dk': 'http://xbrl.dcca.dk/ifrs-dk-cor_2014-12-20',
};

const UNITS = { kroner: 'iso4217:DKK', count: 'xbrli:pure' };

const INSTANT =
  /Assets$|Liabilities|Equity$|Capital$|Inventories|Receivables|Payables|Provisions|Property|Investments|CashAnd|:NumberOf|Goodwill$/;
const isInstant = (concept: string): boolean => INSTANT.test(concept) && !/Expense/.test(concept);

export interface Year {
  readonly cvr?: string;
  readonly name?: string;
  readonly start?: string;
  readonly end?: string;
  readonly figures?: Readonly<Record<string, number | string>>;
  /** Of the year before. */
  readonly former?: Readonly<Record<string, number | string>>;
  readonly texts?: Readonly<Record<string, string>>;
  readonly decimals?: string;
}

/** The usual report: this year, the year before, and who reports. */
export function annual(year: Year = {}): Stated {
  const { cvr = '90000007', name = 'Rugbrød og Rav ApS', start = '2023-01-01', end = '2023-12-31' } = year;
  const before = (day: string) => `${Number(day.slice(0, 4)) - 1}${day.slice(4)}`;
  const texts = {
    'gsd:InformationOnTypeOfSubmittedReport': 'Årsrapport',
    'gsd:ReportingPeriodStartDate': start,
    'gsd:ReportingPeriodEndDate': end,
    'gsd:IdentificationNumberCvrOfReportingEntity': cvr,
    'gsd:NameOfReportingEntity': name,
    ...year.texts,
  };
  const figures = (stated: Year['figures'] = {}, then: string): Said[] =>
    Object.entries(stated).map(([concept, value]) => ({
      concept,
      value,
      at: `${isInstant(concept) ? 'end' : 'year'}${then}`,
      unit: /Employees$/.test(concept) ? 'count' : 'kroner',
      decimals: year.decimals ?? '0',
    }));
  return {
    cvr,
    units: UNITS,
    places: [
      { id: 'year', start, end },
      { id: 'end', end },
      { id: 'yearBefore', start: before(start), end: before(end) },
      { id: 'endBefore', end: before(end) },
    ],
    facts: [
      ...Object.entries(texts).map(([concept, value]) => ({ concept, value, at: 'year' })),
      ...figures(year.figures, ''),
      ...figures(year.former, 'Before'),
    ],
  };
}

/** The report with more in it. */
export const plus = (stated: Stated, places: readonly Place[], facts: readonly Said[]): Stated => ({
  ...stated,
  places: [...stated.places, ...places],
  facts: [...stated.facts, ...facts],
});

export const escaped = (text: string | number): string =>
  String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** An instance, as Danish companies have filed since 2012. */
export function instance(stated: Stated): string {
  const name = renamer(stated);
  const facts = stated.facts.map(({ concept, at, value, unit, decimals = '0', lang }) => {
    const number = unit === undefined ? '' : ` unitRef="${unit}" decimals="${decimals}"`;
    const language = lang === undefined ? '' : ` xml:lang="${lang}"`;
    return `<${name(concept)} contextRef="${at}"${number}${language}>${escaped(value)}</${name(concept)}>`;
  });
  return [
    `<?xml version="1.0" encoding="UTF-8"?>`,
    `<xbrli:xbrl xmlns:xbrli="http://www.xbrl.org/2003/instance" ${declarations(stated)}>`,
    ...resources(stated),
    ...facts,
    '</xbrli:xbrl>',
  ].join('\n');
}

export const declarations = ({ prefixes = {} }: Pick<Stated, 'prefixes'>): string =>
  [
    'xmlns:xbrldi="http://xbrl.org/2006/xbrldi" xmlns:iso4217="http://www.xbrl.org/2003/iso4217"',
    ...Object.entries(NAMESPACES).map(([prefix, uri]) => `xmlns:${prefixes[prefix] ?? prefix}="${uri}"`),
  ].join(' ');

export const renamer =
  ({ prefixes = {} }: Pick<Stated, 'prefixes'>) =>
  (concept: string): string => {
    const [prefix = '', local = ''] = concept.split(':');
    return `${prefixes[prefix] ?? prefix}:${local}`;
  };

export function resources(stated: Stated): readonly string[] {
  const name = renamer(stated);
  const units = Object.entries(stated.units ?? UNITS).map(
    ([id, measure]) => `<xbrli:unit id="${id}"><xbrli:measure>${measure}</xbrli:measure></xbrli:unit>`,
  );
  const contexts = stated.places.map((place) => {
    const { id, start, end, members = {}, typed = {}, within = 'scenario', entity: about = stated.cvr } = place;
    const period =
      start === undefined
        ? `<xbrli:instant>${end}</xbrli:instant>`
        : `<xbrli:startDate>${start}</xbrli:startDate><xbrli:endDate>${end}</xbrli:endDate>`;
    const dimensions = [
      ...Object.entries(members).map(
        ([of, member]) => `<xbrldi:explicitMember dimension="${name(of)}">${name(member)}</xbrldi:explicitMember>`,
      ),
      ...Object.entries(typed).map(
        ([of, text]) =>
          `<xbrldi:typedMember dimension="${name(of)}"><${name('cmn:identifier')}>${text}</${name('cmn:identifier')}></xbrldi:typedMember>`,
      ),
    ].join('');
    const broken = dimensions === '' ? '' : `<xbrli:${within}>${dimensions}</xbrli:${within}>`;
    const entity = `<xbrli:entity><xbrli:identifier scheme="http://www.dcca.dk/cvr">${about}</xbrli:identifier>${within === 'segment' ? broken : ''}</xbrli:entity>`;
    return `<xbrli:context id="${id}">${entity}<xbrli:period>${period}</xbrli:period>${within === 'scenario' ? broken : ''}</xbrli:context>`;
  });
  return [...units, ...contexts];
}
