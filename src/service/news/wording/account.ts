import { dateText, moneyText, numberText } from '../../../protocol/describe/danish.ts';
import type { NumberMetric, ReportData } from '../../../protocol/report.ts';
import { type DraftOf, subject } from './draft.ts';
import { type ArticleBlock, fill, type Phrase } from './phrase.ts';

const KINDS: Readonly<Record<string, string>> = {
  yearly: 'årsrapport',
  halfyearly: 'halvårsrapport',
  quarterly: 'kvartalsrapport',
};

type Figure =
  | 'revenue'
  | 'grossResult'
  | 'resultBeforeTax'
  | 'result'
  | 'equity'
  | 'assets'
  | 'solvencyRatio'
  | 'employees';

const FIGURES: readonly (readonly [Figure, label: string])[] = [
  ['revenue', 'Nettoomsætning'],
  ['grossResult', 'Bruttofortjeneste'],
  ['resultBeforeTax', 'Resultat før skat'],
  ['result', 'Årets resultat'],
  ['equity', 'Egenkapital'],
  ['assets', 'Balancesum'],
  ['solvencyRatio', 'Soliditetsgrad'],
  ['employees', 'Antal ansatte i gennemsnit'],
];
const IN_TAG_LINE: readonly Figure[] = ['revenue', 'grossResult', 'result', 'equity'];
const MOST = 3;

export const account: DraftOf = (change) => {
  const report = change.updates.newReport?.data;
  if (report === undefined) return undefined;
  const kind = KINDS[report.reportType?.toLowerCase() ?? 'yearly'] ?? 'regnskab';
  const company = subject(change);
  const sentence = fill(`[company] har offentliggjort ${kind}[year]`, {
    company,
    year: report.reportYear === null ? [] : [` for ${report.reportYear}`],
  });
  const figures = FIGURES.flatMap(([name, label]) => {
    const value = figureText(report[name], report);
    return value === undefined ? [] : [{ name, text: `${label}: ${value}`, doubted: report[name]?.possibleError }];
  });
  const short = figures.filter(({ name }) => IN_TAG_LINE.includes(name)).slice(-MOST);
  return {
    type: 'Account',
    headline: sentence,
    tagLine:
      short.length === 0
        ? [...sentence, '.']
        : [short.map(({ text }) => text).join(', '), short.at(-1)?.text.endsWith('.') ? '' : '.'],
    content: [
      { kind: 'paragraph', text: [...sentence, '.'] },
      ...periodBlock(report),
      ...listBlock(
        'Nøgletal',
        figures.map(({ text, doubted }) => [
          doubted === true ? `${text} (tallet kan være forkert i regnskabet)` : text,
        ]),
      ),
      ...listBlock('Revisor', auditors(report)),
      ...(report.reportUrl === null
        ? []
        : [
            {
              kind: 'link' as const,
              text: `Læs ${kind === 'regnskab' ? 'regnskabet' : `${kind}en`}`,
              href: report.reportUrl,
            },
          ]),
    ],
  };
};

function figureText(metric: NumberMetric | null, { currencies }: ReportData): string | undefined {
  if (metric === null || metric.value === null || metric.error) return undefined;
  const unit = metric.unit ?? currencies[0] ?? 'DKK';
  if (unit === 'Percentage') return `${numberText(metric.value)} %`;
  return /^[A-Z]{3}$/.test(unit) && unit !== 'CVR' ? moneyText(metric.value, unit) : numberText(metric.value);
}

function periodBlock({ period }: ReportData): readonly ArticleBlock[] {
  if (period?.from == null || period.to === null) return [];
  return [{ kind: 'paragraph', text: [`Perioden er ${dateText(period.from)} til ${dateText(period.to)}.`] }];
}

const listBlock = (title: string, lines: readonly Phrase[]): readonly ArticleBlock[] =>
  lines.length === 0 ? [] : [{ kind: 'list', title, lines }];

const auditors = ({ auditors: all }: ReportData): readonly Phrase[] =>
  all.flatMap(({ name, title, companyName, companyCVR }): readonly Phrase[] => {
    const person = [name, title].filter((text) => text !== null && text.trim() !== '').join(', ');
    const firm = companyName?.trim() ?? '';
    const firmPart: Phrase =
      firm === '' ? [] : [companyCVR === null ? firm : { entityId: `CVR-1-${companyCVR}`, name: firm }];
    if (person === '' && firm === '') return [];
    return [[person, person === '' || firm === '' ? '' : ', ', ...firmPart]];
  });
