/**
 * xbrl: megabytes a second from the bytes of a document to its report data, over a bare pass of the same parser with
 * nobody listening. Instances of 40 KB and 1 MB and inline pages of 1 MB and 8 MB, generated; each kind with equal weight.
 */
import { TextDecoder } from 'node:util';
import { SaxesParser } from 'saxes';
import { readFacts } from '../../src/service/reports/document/read.ts';
import { isReported, reportData } from '../../src/service/reports/report.ts';
import { annual, instance, plus, type Stated } from '../service/reports/instance.ts';
import { page } from '../service/reports/page.ts';
import { FILING } from '../service/reports/reading.ts';
import { median, report, round, spread } from './measure.ts';

const WARM = 10;
const ROUNDS = 60;
const AIM = 0.6;
const MEGABYTE = 1024 * 1024;

const FIGURES = [
  ...['Assets', 'CurrentAssets', 'NoncurrentAssets', 'Equity', 'ContributedCapital', 'LiabilitiesAndEquity'],
  ...['ProfitLoss', 'GrossProfitLoss', 'WagesAndSalaries', 'AverageNumberOfEmployees', 'CashAndCashEquivalents'],
  ...['PropertyPlantAndEquipment', 'ShorttermReceivables', 'OtherFinanceIncome', 'OtherFinanceExpenses', 'Provisions'],
].map((name) => `fsa:${name}`);

/**
 * A report with so many notes and broken-down figures beside the ones that are looked for. Filed instances have about one
 * context for each two kilobytes, and texts make up half of them.
 */
function sample(details: number): Stated {
  const amounts = Object.fromEntries(FIGURES.map((concept, at) => [concept, (at + 1) * 1_234_000]));
  const texts = { 'mrv:ManagementsReview': 'Året gik godt. '.repeat(40) };
  const numbers = Array.from({ length: details }, (_, at) => at);
  const parts = numbers.filter((at) => at % 4 === 0);
  return plus(
    annual({ figures: amounts, former: amounts, texts }),
    parts.map((at) => ({
      id: `part${at}`,
      end: '2023-12-31',
      members: { 'fsa:ClassesOfEquityDimension': `fsa:Member${at}` },
    })),
    numbers.flatMap((at) => [
      { concept: 'fsa:Equity', at: `part${at - (at % 4)}`, value: at * 1_000, unit: 'kroner' },
      { concept: `fsa:Detail${at}`, at: 'year', value: at * 17, unit: 'kroner' },
      { concept: `fsa:NoteOn${at}`, at: 'year', value: 'Anvendt regnskabspraksis er uændret. '.repeat(6) },
    ]),
  );
}

const PROSE = `<p class="t m0 x1">${'Ledelsen <span class="_ _0"></span>venter et uændret <b>resultat</b> næste år. '.repeat(6)}</p>`;
const FILES = {
  smallInstance: instance(sample(60)),
  instance: instance(sample(1_600)),
  page: page(sample(330), { thousands: true, prose: PROSE }),
  largePage: page(sample(2_600), { thousands: true, prose: PROSE }),
};

function bare(bytes: Buffer): void {
  const parser = new SaxesParser({ xmlns: true });
  parser.write(new TextDecoder().decode(bytes));
  parser.close();
}

async function ours(bytes: Buffer): Promise<void> {
  const data = reportData([await readFacts(bytes, isReported)], FILING);
  if (data.assets === null || data.salaries === null) throw new Error('the figures were not read');
}

/** Ms for so many passes. */
async function timed(times: number, pass: () => unknown): Promise<number> {
  const began = performance.now();
  for (let at = 0; at < times; at++) await pass();
  return performance.now() - began;
}

const measured: Record<
  string,
  { readonly ratio: number; readonly megabytesPerSecond: number; readonly kilobytes: number }
> = {};
for (const [name, text] of Object.entries(FILES)) {
  const bytes = Buffer.from(text);
  const times = Math.max(1, Math.round(MEGABYTE / bytes.length));
  const runs: { bare: number; ours: number }[] = [];
  // In turns of about a megabyte, so that a busy machine slows both. The first ones warm both up and are not counted.
  for (let at = 0; at < WARM + ROUNDS; at++) {
    const run = { bare: await timed(times, () => bare(bytes)), ours: await timed(times, () => ours(bytes)) };
    if (at >= WARM) runs.push(run);
  }
  measured[name] = {
    ...spread(runs.map((run) => run.bare / run.ours)),
    megabytesPerSecond: round((bytes.length * times * 1_000) / MEGABYTE / median(runs.map((run) => run.ours)), 1),
    kilobytes: round(bytes.length / 1024),
  };
}
const ratios = Object.values(measured).map(({ ratio }) => ratio);
const ratio = round(ratios.reduce((sum, one) => sum + one, 0) / ratios.length, 3);
report('xbrl', { ratio, ...measured }, { ratio: AIM }, ratio >= AIM);
