import { describe, expect, it } from 'vitest';
import { formerOf, isNews, type KnownFiling } from '../../../src/service/reports/choose.ts';
import { type Filing, readFiling } from '../../../src/service/reports/filings.ts';
import { reportData } from '../../../src/service/reports/report.ts';
import { FILING } from './reading.ts';

const document = (dokumentMimeType: string, name: string, dokumentType = 'AARSRAPPORT') => ({
  dokumentMimeType,
  dokumentType,
  dokumentUrl: `http://reports.example/${name}`,
});
const record = (more: object = {}, id: unknown = 'urn:ofk:oid:7') => ({
  _id: id,
  _source: {
    cvrNummer: 90000007,
    offentliggoerelsestype: 'regnskab',
    regnskab: { regnskabsperiode: { startDato: '2023-01-01', slutDato: '2023-12-31' } },
    offentliggoerelsesTidspunkt: '2024-05-20T08:00:00.000Z',
    sidstOpdateret: '2024-05-20T10:00:00.000+02:00',
    dokumenter: [document('application/pdf', '1.pdf'), document('application/xml', '1.xml')],
    ...more,
  },
});
const filed = (more: object): Filing => {
  const filing = readFiling(record(more));
  if ('reason' in filing) throw new Error(filing.reason);
  return filing;
};

describe('a record of the index', () => {
  it('is a filing, with the report for people and the one for programs', () => {
    expect(readFiling(record())).toEqual({
      id: 'urn:ofk:oid:7',
      cvr: 90000007,
      publishedAt: '2024-05-20T08:00:00.000Z',
      updatedAt: '2024-05-20T08:00:00.000Z',
      period: { start: '2023-01-01', end: '2023-12-31' },
      isAnnual: true,
      reportUrl: 'http://reports.example/1.pdf',
      xbrlUrl: 'http://reports.example/1.xml',
      documents: ['http://reports.example/1.xml'],
    });
  });

  it('reads the Danish document before the page, and neither archive, picture nor extension', () => {
    const dokumenter = [
      document('application/zip', 'esef.zip', 'AARSRAPPORT_ESEF'),
      document('application/xhtml+xml', 'esef.xhtml', 'AARSRAPPORT_ESEF'),
      document('application/xml', 'stub.xml'),
      document('application/xml', 'extension.xml', 'ESEF_EXTENSION'),
      document('image/tiff', 'scan.tif'),
      document('application/pdf', 'report.pdf'),
    ];
    expect(filed({ dokumenter })).toMatchObject({
      documents: ['http://reports.example/stub.xml', 'http://reports.example/esef.xhtml'],
      reportUrl: 'http://reports.example/report.pdf',
      xbrlUrl: 'http://reports.example/stub.xml',
    });
    expect(filed({ dokumenter: dokumenter.slice(4, 5) })).toMatchObject({
      documents: [],
      reportUrl: null,
      xbrlUrl: null,
    });
  });

  it('is not annual if it holds an interim report', () => {
    const dokumenter = [document('application/xml', 'h1.xml', 'HALVAARSRAPPORT')];
    expect(filed({ dokumenter })).toMatchObject({ isAnnual: false, documents: ['http://reports.example/h1.xml'] });
  });

  it('may lack its period, its documents and the time of its change', () => {
    expect(filed({ regnskab: null, dokumenter: null, sidstOpdateret: undefined })).toMatchObject({
      period: undefined,
      documents: [],
      updatedAt: '2024-05-20T08:00:00.000Z',
    });
    const script = { ...document('application/pdf', ''), dokumentUrl: 'javascript:alert(1)' };
    expect(filed({ dokumenter: [script] }).reportUrl).toBeNull();
    expect(filed({ dokumenter: [null, 7, { dokumentUrl: 5 }, {}] }).documents).toEqual([]);
  });

  it.each([
    ['no record', null, undefined],
    ['no record', { _id: 7 }, undefined],
    ['another kind', record({ offentliggoerelsestype: 'vedtaegt' }), 'urn:ofk:oid:7'],
    ['no company number', record({ cvrNummer: null }), 'urn:ofk:oid:7'],
    ['no company number', record({ cvrNummer: 12 }), 'urn:ofk:oid:7'],
    ['no time', record({ offentliggoerelsesTidspunkt: 'i går' }), 'urn:ofk:oid:7'],
  ])('with %s is no filing', (reason, hit, id) => {
    expect(readFiling(hit)).toEqual({ id, reason: expect.stringContaining(reason) });
  });
});

describe('which filing is news', () => {
  const data = reportData([], FILING);
  const known = (id: string, end: string, published = '2024-05-01', start = '2023-01-01'): KnownFiling => ({
    id,
    period_start: start,
    period_end: end,
    published_at: `${published}T08:00:00.000Z`,
    isAnnual: true,
  });

  it('is the annual report: the first, and a re-filing that comes later', () => {
    expect(isNews(FILING, data, [])).toBe(true);
    expect(isNews(FILING, data, [known('a', '2023-12-31'), known('b', '2022-12-31', '2023-05-01', '2022-01-01')])).toBe(
      true,
    );
    expect(isNews(FILING, data, [known('a', '2023-06-30')])).toBe(true);
    expect(isNews(FILING, data, [known(FILING.id, '2023-12-31', '2024-09-01')])).toBe(true);
  });

  it('is not one that a later filing has replaced, or a part of a year whose report is known', () => {
    expect(isNews(FILING, data, [known('a', '2023-12-31', '2024-06-01')])).toBe(false);
    expect(isNews(FILING, data, [known('a', '2024-06-30')])).toBe(false);
  });

  it('is not one of an earlier year than a report that is known, however late it is filed', () => {
    const of2024 = known('a', '2024-12-31', '2025-05-01', '2024-01-01');
    expect(isNews(FILING, data, [of2024])).toBe(false);
    expect(isNews(FILING, data, [{ ...of2024, isAnnual: false }])).toBe(true);
    // Another start of the same year: the later publication counts.
    expect(isNews(FILING, data, [known('a', '2023-12-31', '2024-06-01', '2022-10-01')])).toBe(false);
    expect(isNews(FILING, data, [known('a', '2206-12-31', '2024-06-01', '2206-01-01')])).toBe(true);
  });

  it('is not an interim report', () => {
    for (const reportType of ['HalfYearly', 'Quarterly', 'Other'])
      expect(isNews(FILING, { ...data, reportType }, [])).toBe(false);
  });

  it('compares with the year that ended before, as it was filed last', () => {
    const rows = [
      known('old', '2021-12-31', '2022-05-01', '2021-01-01'),
      known('first', '2022-12-31', '2023-05-01', '2022-01-01'),
      known('second', '2022-12-31', '2023-07-01', '2022-01-01'),
      known('same', '2023-12-31'),
    ];
    expect(formerOf('2023-01-01', rows)?.id).toBe('second');
    expect(formerOf('2020-01-01', rows)).toBeUndefined();
    expect(formerOf(null, rows)).toBeUndefined();
  });
});
