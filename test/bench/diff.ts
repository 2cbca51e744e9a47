/**
 * diff: register documents from parsed JSON to changes, against a plain JSON.parse of the same documents; and the memory
 * it takes to pass a million of them. Round about, so that a busy machine slows both.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { changesOf } from '../../src/service/register/diff/diff.ts';
import { createRecodingGuard } from '../../src/service/register/diff/recoding.ts';
import type { Company } from '../../src/service/register/document/company.ts';
import { readDocument } from '../../src/service/register/document/document.ts';
import { sampleDocuments } from '../support/sample-documents.ts';
import { median, report, round, spread } from './measure.ts';

const COMPANIES = 40;
const CHANGES = 600;
const ROUNDS = 9;
const PASSES = 5;
const MILLION = 1_000_000;
const TODAY = '2026-11-21';
const AIM = { ratio: 0.6, heapGrowthMb: 2, rssGrowthMb: 25 };

const guard = createRecodingGuard();
const options = { today: TODAY, placeType: 'Place', isRecoded: guard.isRecoded };

/** Documents as text, each with what the one of the same company before it was read as. */
interface Prepared {
  readonly text: string;
  readonly before: Company | undefined;
}

const prepare = (): readonly Prepared[] => {
  const known = new Map<string, Company>();
  const prepared: Prepared[] = [];
  for (const document of sampleDocuments(7, COMPANIES, CHANGES, { units: false })) {
    const reading = readDocument(document, TODAY);
    if (reading.kind !== 'company') throw new Error(`a sample document is ${reading.kind}`);
    const { company } = reading;
    prepared.push({ text: JSON.stringify(document), before: known.get(company.entity) });
    known.set(company.entity, company);
  }
  return prepared;
};

/** What the watcher does with a parsed document, without its store. */
const changesIn = (document: unknown, before: Company | undefined): number => {
  const reading = readDocument(document, TODAY);
  return reading.kind === 'company' ? changesOf(before, reading.company, options).length : 0;
};

const msOf = (work: () => void): number => {
  const start = performance.now();
  work();
  return performance.now() - start;
};

const prepared = prepare();
const parsed = prepared.map(({ text, before }) => ({ document: JSON.parse(text), before }));
let changes = 0;
const runs: { parse: number; diff: number }[] = [];
for (let at = 0; at <= ROUNDS; at++) {
  const parse = msOf(() => {
    for (let pass = 0; pass < PASSES; pass++) for (const { text } of prepared) JSON.parse(text);
  });
  changes = 0;
  const diff = msOf(() => {
    for (let pass = 0; pass < PASSES; pass++)
      for (const { document, before } of parsed) changes += changesIn(document, before);
  });
  // The first round warms both up and is not counted.
  if (at > 0) runs.push({ parse, diff });
}

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');
const heapMb = (): number => {
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
};
/** As from a source: a text is parsed, compared with what was known, and forgotten. */
const pass = (count: number): void => {
  for (let at = 0; at < count; at++) {
    const next = prepared[at % prepared.length];
    if (next !== undefined) changesIn(JSON.parse(next.text), next.before);
  }
};
pass(MILLION / 10);
const early = { heap: heapMb(), rss: process.memoryUsage.rss() / 2 ** 20 };
pass(MILLION - MILLION / 10);
const late = { heap: heapMb(), rss: process.memoryUsage.rss() / 2 ** 20 };

const documents = prepared.length * PASSES;
const ratios = spread(runs.map(({ parse, diff }) => parse / diff));
const heapGrowthMb = late.heap - early.heap;
// The process keeps what the collector once needed: some megabytes either way are its own.
const rssGrowthMb = late.rss - early.rss;
const bytes = prepared.reduce((sum, { text }) => sum + text.length, 0);
const measured = {
  ...ratios,
  documentsPerSecond: round(median(runs.map(({ diff }) => (documents * 1_000) / diff))),
  parsedPerSecond: round(median(runs.map(({ parse }) => (documents * 1_000) / parse))),
  documentKb: round(bytes / prepared.length / 1_000, 1),
  changesPerDocument: round(changes / documents, 2),
  heapMb: round(late.heap, 1),
  rssMb: round(late.rss, 1),
  heapGrowthMb: round(heapGrowthMb, 1),
  rssGrowthMb: round(rssGrowthMb, 1),
};
const isFlat = heapGrowthMb < AIM.heapGrowthMb && rssGrowthMb < AIM.rssGrowthMb;
report('diff', measured, AIM, ratios.ratio >= AIM.ratio && isFlat);
