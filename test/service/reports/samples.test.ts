/** Compares with figures found by other means: of invented reports, and of filed ones if they lie beside the checkout. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readFacts } from '../../../src/service/reports/document/read.ts';
import { readFiling } from '../../../src/service/reports/filings.ts';
import { isReported, reportData } from '../../../src/service/reports/report.ts';
import { SAMPLE_FOLDERS } from '../../support/outside.ts';
import { FILING } from './reading.ts';

interface Reference {
  readonly period: readonly [string, string];
  readonly currencies: readonly string[];
  readonly solo: Readonly<Record<string, readonly string[]>>;
}
const dataIn = async (file: string) => {
  const data = reportData([await readFacts(readFileSync(file), isReported)], { ...FILING, period: undefined });
  const figures = Object.values(data).filter((one) => one !== null && typeof one === 'object' && 'sources' in one);
  return { data, figures: figures.filter(({ sources, unit }) => sources.length > 0 && unit !== 'CVR') };
};

describe.each(SAMPLE_FOLDERS)('a filed report, $kind', ({ folder }) => {
  const place = (...names: readonly string[]) => path.join(folder, ...names);
  const filesIn = (name: string) => readdirSync(place(name));
  const references: Readonly<Record<string, Reference>> = JSON.parse(
    readFileSync(place('xbrl/reference-facts.json'), 'utf8'),
  );

  it.each(Object.entries(references))(
    '%s has the figures that were found in it',
    async (file, { period, currencies, solo }) => {
      const { data, figures } = await dataIn(place('xbrl', file));
      expect([data.period?.from?.slice(0, 10), data.period?.to?.slice(0, 10)]).toEqual(period);
      expect(data.currencies).toEqual(currencies);
      const direct = figures.filter(({ calculation }) => calculation === null);
      expect(direct.length).toBeGreaterThan(10);
      for (const { sources, value } of direct) {
        const found = solo[sources[0] ?? ''];
        if (found !== undefined) expect(found.map(Number), sources[0]).toContain(value);
      }
      const stated = Object.keys(solo).filter(
        (concept) => /^(fsa|ifrs-full):/.test(concept) && isNumber(solo[concept]?.[0]),
      );
      const shown = new Set(figures.flatMap(({ sources }) => sources));
      const missing = stated.filter(
        (concept) => isReported(concept) && !shown.has(concept) && !OTHERS.includes(concept),
      );
      // Where company and group can hardly be told apart the reference holds both.
      const isBoth = Object.values(solo).some((values) => values.length > 1 && isNumber(values[1]));
      if (isBoth) expect(direct.every(({ possibleError }) => possibleError)).toBe(true);
      else expect(missing).toEqual([]);
    },
  );

  it.each(filesIn('ixbrl'))('%s, a page, is read over its continued texts', async (file) => {
    const { data } = await dataIn(place('ixbrl', file));
    expect(data.assets?.value).toBeGreaterThan(1_000_000);
    expect(data.assets?.value).toBe((data.currentAssets?.value ?? 0) + (data.nonCurrentAssets?.value ?? 0));
    expect(data.assets?.value).toBe(data.liabilitiesAndEquity?.value);
    expect(data.employees?.unit).toBe('pure');
    expect(data.opinionOnFinancialStatements?.value?.length).toBeGreaterThan(200);
    expect(data.auditors.length).toBeGreaterThan(1);
    for (const { id, companyCVR } of data.auditors) {
      expect(id).toMatch(/^mne\d{4,6}$/);
      expect(companyCVR).toBeGreaterThan(10_000_000);
    }
  });

  it.each(filesIn('offentliggoerelser'))('in %s is a filing', (file) => {
    const answer = JSON.parse(readFileSync(place('offentliggoerelser', file), 'utf8'));
    for (const hit of answer.hits.hits) expect(readFiling(hit)).not.toHaveProperty('reason');
  });
});

/** May be stated beside another name of the same figure, which counts. */
const OTHERS = ['fsa:TaxExpenseOnOrdinaryActivities', 'fsa:ProposedDividend'];

const isNumber = (text: string | undefined): boolean => /^\s*-?\d+(\.\d+)?\s*$/.test(text ?? '');
