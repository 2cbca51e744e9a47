/** Reads what a test wrote. */
import type { ReportData } from '../../../src/protocol/report.ts';
import type { Facts } from '../../../src/service/reports/document/facts.ts';
import { readFacts } from '../../../src/service/reports/document/read.ts';
import type { Filing } from '../../../src/service/reports/filings.ts';
import { isReported, reportData } from '../../../src/service/reports/report.ts';

export const FILING: Filing = {
  id: 'urn:ofk:oid:1',
  cvr: 90000007,
  publishedAt: '2024-05-20T08:00:00.000Z',
  updatedAt: '2024-05-20T08:00:00.000Z',
  period: { start: '2023-01-01', end: '2023-12-31' },
  isAnnual: true,
  reportUrl: 'http://reports.example/1.pdf',
  xbrlUrl: 'http://reports.example/1.xml',
  documents: ['http://reports.example/1.xml'],
};

export const factsOf = (text: string): Promise<Facts> => readFacts(Buffer.from(text), () => true);

export async function dataOf(
  text: string | readonly string[],
  filing: Partial<Filing> = {},
  former?: ReportData,
): Promise<ReportData> {
  const documents = await Promise.all([text].flat().map((one) => readFacts(Buffer.from(one), isReported)));
  return reportData(documents, { ...FILING, ...filing }, former);
}

/** The values of one name. */
export const valuesOf = (facts: Facts, concept: string): readonly string[] =>
  (facts.get(concept) ?? []).map(({ value }) => value);
