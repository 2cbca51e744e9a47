import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { readPayload, writePayload } from '../../../src/protocol/payload.ts';
import { type ReportData, report } from '../../../src/protocol/report.ts';
import { newReportOf } from '../../../src/service/reports/deprecated.ts';
import { plainText } from '../../../src/service/reports/document/plain-text.ts';
import { reportData } from '../../../src/service/reports/report.ts';
import { growthOf, MOST_LINEAR_GROWTH } from '../../support/growth.ts';
import { annual, instance, plus, type Said, type Year } from './instance.ts';
import { page } from './page.ts';
import { dataOf, FILING } from './reading.ts';

const read = (year: Year) => dataOf(instance(annual(year)));
const AUDITOR = 'cmn:IdentificationOfAuditorDimension';
const year = { start: '2023-01-01', end: '2023-12-31' };

describe('report data', () => {
  it('has every metric of the specification, null if the report has none', async () => {
    const data = await read({ figures: { 'fsa:Assets': 5 } });
    expect(Value.Errors(report, { data })).toEqual([]);
    expect(Object.keys(data).toSorted()).toEqual(Object.keys(report.properties.data.properties).toSorted());
    expect(Object.values(data).filter((value) => value === undefined)).toEqual([]);
    expect(data).toMatchObject({ revenue: null, inventories: null, goingConcern: null, supplementaryInformation: [] });
  });

  it('takes what is published from the index', async () => {
    expect(await read({})).toMatchObject({
      cvr: 90000007,
      publicationTime: '2024-05-20T08:00:00.000Z',
      reportUrl: 'http://reports.example/1.pdf',
      xbrlUrl: 'http://reports.example/1.xml',
      reportYear: 2023,
      reportType: 'Yearly',
      period: { from: '2023-01-01T00:00:00', to: '2023-12-31T00:00:00', instant: null },
    });
  });

  it('has the values of the index if there is no document to read', () => {
    const data = reportData([], FILING);
    expect(Value.Errors(report, { data })).toEqual([]);
    expect(data).toMatchObject({ reportYear: 2023, reportType: 'Yearly', assets: null, currencies: [], auditors: [] });
    expect(reportData([], { ...FILING, period: undefined })).toMatchObject({ period: null, reportYear: null });
  });

  it.each([
    ['Årsrapport', 'Yearly'],
    ['Annual report', 'Yearly'],
    ['Halvårsrapport', 'HalfYearly'],
    ['Half-yearly report', 'HalfYearly'],
    ['Kvartalsrapport', 'Quarterly'],
    ['Likvidationsregnskab', 'Yearly'],
    ['Liquidation accounts', 'Yearly'],
    ['Åbningsbalance', 'Other'],
  ])('of a report called %s is %s', async (text, type) => {
    expect((await read({ texts: { 'gsd:InformationOnTypeOfSubmittedReport': text } })).reportType).toBe(type);
  });

  it.each([
    ['2023-03-31', 'Quarterly'],
    ['2023-06-30', 'HalfYearly'],
    ['2023-12-31', 'Yearly'],
  ])('of a report that does not say its type, until %s, is %s', async (end, type) => {
    const data = await read({
      end,
      texts: { 'gsd:InformationOnTypeOfSubmittedReport': '' },
      figures: { 'ifrs-full:Assets': 1 },
    });
    expect(data.reportType).toBe(type);
  });

  it('takes figures from the ESEF page and texts from the Danish document beside it that has no figures', async () => {
    const stub = instance(
      annual({
        texts: { 'fsa:ClassOfReportingEntity': 'Regnskabsklasse D', 'cmn:NameOfAuditFirm': 'Revi & Sion P/S' },
      }),
    );
    const esef = page(
      annual({
        texts: { 'gsd:NameOfReportingEntity': '' },
        figures: { 'ifrs-full:Assets': 9_000_000, 'ifrs-full:Equity': 10 },
      }),
      { thousands: true },
    );
    const data = await dataOf([stub, esef]);
    expect(data.assets).toMatchObject({ value: 9_000_000, sources: ['ifrs-full:Assets'], possibleError: false });
    expect(data.classOfReportingEntity?.value).toBe('Regnskabsklasse D');
    expect(data.auditors).toMatchObject([{ companyName: 'Revi & Sion P/S' }]);
    expect(data.currencies).toEqual(['DKK']);
  });

  it('reads texts of whichever report the auditor made', async () => {
    const data = await read({
      texts: {
        'arr:OpinionOnFinancialStatementsExtendedReview': 'Et retvisende billede.',
        'arr:TypeOfBasisForModifiedOpinionOnReviewedFinancialStatements': 'Forbehold',
        'arr:MaterialUncertaintyConcerningGoingConcernExtendedReview': 'Usikkert.',
        'arr:SupplementaryInformationOnOtherMatters': 'Vi gør opmærksom på et.',
        'arr:SupplementaryInformationOnAssurance': 'Og på et andet.',
        'arr:SignatureOfAuditorsDate': '2024-03-27',
        'gsd:IdentificationNumberCvrOfSubmittingEnterprise': 'DK 90 00 00 23',
        'mrv:DescriptionOfPrimaryActivitiesOfEntity': 'Rav.',
        'mrv:DescriptionOfExpectedDevelopment': 'Mere rav.',
      },
    });
    const texts = [
      'opinionOnFinancialStatements',
      'typeOfBasisForModifiedOpinion',
      'goingConcern',
      'auditorSignatureDate',
      'managementsReview',
    ] as const;
    expect(texts.map((name) => data[name]?.value)).toEqual([
      'Et retvisende billede.',
      'Forbehold',
      'Usikkert.',
      '2024-03-27T00:00:00',
      'Rav.\n\nMere rav.',
    ]);
    expect(data.supplementaryInformation?.map(({ value }) => value)).toEqual([
      'Vi gør opmærksom på et.',
      'Og på et andet.',
    ]);
    expect(data.submittingCompanyCVR).toMatchObject({ unit: 'CVR', value: 90000023 });
  });

  it('ignores a text that holds for a part only', async () => {
    const part = { id: 'part', ...year, members: { 'fsa:ClassesOfEquityDimension': 'fsa:OtherMember' } };
    const said = { concept: 'mrv:ManagementsReview', at: 'part', value: 'Om en del' };
    expect((await dataOf(instance(plus(annual(), [part], [said])))).managementsReview).toBeNull();
  });

  it('prefers Danish if a text is stated in two languages', async () => {
    const said = (value: string, lang: string): Said => ({ concept: 'mrv:ManagementsReview', at: 'year', value, lang });
    const data = await dataOf(instance(plus(annual(), [], [said('A good year', 'en'), said('Et godt år', 'da')])));
    expect(data.managementsReview?.value).toBe('Et godt år');
  });
});

describe('auditors', () => {
  const auditors = async (typed: readonly (readonly [string, Record<string, string>])[], texts = {}) => {
    const places = typed.map(([key]) => ({ id: `auditor${key}`, ...year, typed: { [AUDITOR]: key } }));
    const facts = typed.flatMap(([key, said]) =>
      Object.entries(said).map(([concept, value]) => ({ concept, value, at: `auditor${key}` })),
    );
    return (await dataOf(instance(plus(annual({ texts }), places, facts)))).auditors;
  };

  it('are distinguished by number, in its order, and a common statement holds for each', async () => {
    const list = await auditors(
      [
        ['10', { 'cmn:NameAndSurnameOfAuditor': 'Bo\n   Bog', 'cmn:IdentificationNumberOfAuditor': 'mne90002' }],
        ['2', { 'cmn:NameAndSurnameOfAuditor': 'Asta Aks', 'cmn:DescriptionOfAuditor': 'statsautoriseret revisor' }],
      ],
      { 'cmn:NameOfAuditFirm': 'Revi & Sion P/S', 'cmn:IdentificationNumberCvrOfAuditFirm': '90000031' },
    );
    const firm = { companyName: 'Revi & Sion P/S', companyCVR: 90000031 };
    expect(list).toEqual([
      { ...firm, id: null, name: 'Asta Aks', title: 'statsautoriseret revisor' },
      { ...firm, id: 'mne90002', name: 'Bo Bog', title: null },
    ]);
  });

  it('are one if none is numbered, and none if none is named', async () => {
    expect(await auditors([], { 'cmn:NameAndSurnameOfAuditor': 'Asta Aks' })).toMatchObject([
      { name: 'Asta Aks', companyCVR: null },
    ]);
    expect(await auditors([], { 'cmn:TypeOfAuditorAssistance': 'Ingen bistand' })).toEqual([]);
  });
});

describe('a text', () => {
  it('is what a person would read of it', () => {
    expect(plainText('<p><span style="x">Vi har</span> revideret&nbsp;A &amp; B</p><p>Slut</p>')).toBe(
      'Vi har revideret A & B\nSlut',
    );
    expect(plainText('  Deloitte\r\n    Statsaut.  Revision ')).toBe('Deloitte\nStatsaut. Revision');
    expect(plainText('a < b > c')).toBe('a < b > c');
    expect(plainText('x'.repeat(20_000))).toHaveLength(10_000);
  });

  it.each(['<a', '< ', ' \n', '&amp'])('of hostile length (%j) is read in linear time', (piece) => {
    const read = (length: number) => plainText(`<p>${piece.repeat(length / piece.length)}x`);
    expect(growthOf(read, 8_000)).toBeLessThan(MOST_LINEAR_GROWTH);
  });
});

describe('the deprecated shape', () => {
  it('holds figures as texts with their period, and is sent beside the data', async () => {
    const data = await read({
      figures: { 'fsa:Assets': 5, 'fsa:Equity': 2 },
      texts: { 'cmn:NameOfAuditFirm': 'Revi & Sion P/S' },
    });
    const old = newReportOf(data, true).Report;
    expect(old).toMatchObject({
      assets: { unit: 'DKK', value: '5', possibleError: false, error: false, period: data.period },
      solvencyRatio: { value: '40' },
      pdfUrl: data.reportUrl,
      xmlUrl: data.xbrlUrl,
      nameOfAuditFirm: 'Revi & Sion P/S',
    });
    expect(old).not.toHaveProperty('revenue');
    const newReport = { data, Report: old };
    const wire = writePayload({
      entityId: 'CVR-1-90000007',
      timestamp: '2024-05-20T08:00:00.000Z',
      updates: { newReport },
    });
    expect(wire.updates['newReport']).toMatchObject({
      updated: true,
      data: { assets: { value: 5 } },
      Report: { assets: { value: '5' } },
    });
    const back = readPayload(JSON.parse(JSON.stringify(wire)));
    const received: ReportData | undefined = back.ok ? back.payload.updates.newReport?.data : undefined;
    expect(received).toEqual(data);
  });
});
