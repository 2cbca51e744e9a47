import { describe, expect, it } from 'vitest';
import { plainText } from '../../../src/protocol/news.ts';
import type { ReportData } from '../../../src/protocol/report.ts';
import { randomFrom } from '../../../src/protocol/sample/random.ts';
import { sampleReport } from '../../../src/protocol/sample/report.ts';
import { newsOf } from '../../../src/service/news/wording/make.ts';
import { changeOf, firm, itemOf, person, SETTINGS } from './samples.ts';

const NAME = 'Prøvelund Møbler A/S';
const people = (count: number) =>
  Array.from({ length: count }, (_, at) => person(`Testesen ${at + 1}`, 4_000_000_001 + at));
const told = (...args: Parameters<typeof itemOf>) => {
  const { headline, tagLine, content } = itemOf(...args);
  return { headline: plainText(headline), tagLine: plainText(tagLine), content: plainText(content) };
};

describe('people who join or leave', () => {
  it('are named if one or two, and counted if more', () => {
    const board = (count: number) => told({ board: { added: people(count), removed: [] } });
    expect(board(1).headline).toBe(`Testesen 1 er indtrådt i bestyrelsen for ${NAME}`);
    expect(board(2).headline).toBe(`Testesen 1 og Testesen 2 er indtrådt i bestyrelsen for ${NAME}`);
    expect(board(3).headline).toBe(`3 nye medlemmer i bestyrelsen for ${NAME}`);
    expect(board(4).tagLine).toBe('Indtrådt i bestyrelsen: Testesen 1, Testesen 2, Testesen 3 og Testesen 4.');
    expect(board(5).tagLine).toBe('Indtrådt i bestyrelsen: Testesen 1, Testesen 2, Testesen 3 og 2 andre.');
    expect(board(5).content.match(/<li>/g)).toHaveLength(5);
  });

  it('have adjectives that agree with their number', () => {
    const partners = (count: number) => told({ stakeholders: { added: people(count), removed: [] } });
    expect(partners(1).headline).toBe(`Testesen 1 er ny fuldt ansvarlig deltager i ${NAME}`);
    expect(partners(2).headline).toBe(`Testesen 1 og Testesen 2 er nye fuldt ansvarlige deltagere i ${NAME}`);
    expect(partners(1).tagLine).toBe('Ny fuldt ansvarlig deltager: Testesen 1.');
    expect(partners(2).tagLine).toBe('Nye fuldt ansvarlige deltagere: Testesen 1 og Testesen 2.');
  });

  it('are named on both sides if one auditor follows another', () => {
    expect(
      told({ accountant: { added: [firm('Kladde Revision')], removed: [firm('Gammel Revision', 20_000_002)] } }),
    ).toEqual({
      headline: `${NAME} har skiftet revisor`,
      tagLine: 'Ny revisor: Kladde Revision. Fratrådt revisor: Gammel Revision.',
      content: `<p>${NAME} har skiftet revisor.</p><p>Ny revisor:</p><ul><li>Kladde Revision</li></ul><p>Fratrådt revisor:</p><ul><li>Gammel Revision</li></ul>`,
    });
  });

  it('are named if one only leaves', () => {
    const { headline } = told({ management: { added: [], removed: people(1) } });
    expect(headline).toBe(`Testesen 1 er udtrådt af direktionen for ${NAME}`);
  });
});

describe('beneficial owners without a share left', () => {
  const left = { ...person('Testesen 1', 4_000_000_001), ownership: '30', voterights: '30' };
  const gone = { added: [], removed: [left], changed: [] };

  it('are not said to own nothing, or to have no votes: they may still be owners by role or with less', () => {
    expect(told({ trueOwnership: gone }).headline).toBe(
      `Testesen 1 er ikke længere registreret med en reel ejerandel i ${NAME}`,
    );
    expect(told({ trueVoteRights: gone }).headline).toBe(
      `Testesen 1 er ikke længere registreret med stemmerettigheder som reel ejer af ${NAME}`,
    );
    expect(told({ trueVoteRights: gone }).tagLine).toBe('Udgåede stemmerettigheder som reel ejer: Testesen 1 (30 %).');
  });
});

describe('owners', () => {
  const owner = (name: string, ownership: string | null, number = 4_000_000_001) => ({
    ...person(name, number),
    ownership,
  });

  it('have their shares, before and after if both are known', () => {
    const { headline, tagLine, content } = told(
      {
        ownership: {
          added: [owner('Ny Testesen', '5-10', 4_000_000_002)],
          removed: [owner('Gammel Testesen', null, 4_000_000_003)],
          changed: [owner('Blivende Testesen', '33.33-50')],
        },
      },
      { formerShares: { 'CVR-3-4000000001': '100' } },
    );
    expect(headline).toBe(`Ændringer blandt ejerne af ${NAME}`);
    expect(tagLine).toBe(
      'Ny ejer: Ny Testesen (5-10 %). Ikke længere ejer: Gammel Testesen. Ændret ejerandel: Blivende Testesen (100 % → 33,33-50 %).',
    );
    expect(content).toContain('<li>Blivende Testesen: 100 % → 33,33-50 %</li>');
  });

  it('who are beneficial owners are named as such', () => {
    expect(told({ trueOwnership: { added: [owner('Ny Testesen', '33.33')], removed: [], changed: [] } })).toMatchObject(
      {
        headline: `Ny Testesen er registreret med en reel ejerandel i ${NAME}`,
        tagLine: 'Ny reel ejerandel: Ny Testesen (33,33 %).',
      },
    );
    const voter = { ...person('Ny Testesen'), voterights: '60' };
    expect(told({ trueVoteRights: { added: [], removed: [], changed: [voter] } })).toMatchObject({
      headline: `Ny Testesen har fået ændret sine stemmerettigheder som reel ejer af ${NAME}`,
      tagLine: 'Ændrede stemmerettigheder som reel ejer: Ny Testesen (nu 60 %).',
    });
  });

  it('of both kinds have the former share of each', () => {
    const change = (ownership: string) => ({
      added: [],
      removed: [],
      changed: [owner('Blivende Testesen', ownership)],
    });
    const { content } = told(
      { ownership: change('5-10'), trueOwnership: change('6.5') },
      { formerShares: { 'CVR-3-4000000001': '10-15', 'trueOwnership CVR-3-4000000001': '12' } },
    );
    expect(content).toContain('<li>Blivende Testesen: 10-15 % → 5-10 %</li>');
    expect(content).toContain('<li>Blivende Testesen: 12 % → 6,5 %</li>');
    expect(told({ trueOwnership: change('6.5') }, { formerShares: { 'CVR-3-4000000001': '10-15' } }).tagLine).toBe(
      'Ændret reel ejerandel: Blivende Testesen (nu 6,5 %).',
    );
  });

  it('have news of a company that they founded', () => {
    const ownership = { ...firm('Eksempelhavn Byg ApS'), ownership: '90-100' };
    expect(told({ subsidiaryFounded: { ownership } })).toMatchObject({
      headline: `${NAME} har stiftet et datterselskab: Eksempelhavn Byg ApS`,
      tagLine: `${NAME} ejer 90-100 % af Eksempelhavn Byg ApS.`,
    });
  });
});

describe('master data', () => {
  it('has its own headline for one change, and a list for several', () => {
    const phoneNumber = { before: '10000000', after: '10000001' };
    expect(told({ phoneNumber })).toEqual({
      headline: `${NAME} har fået nyt telefonnummer`,
      tagLine: 'Telefon: 10000000 → 10000001',
      content: `<p>${NAME} har fået nyt telefonnummer.</p><ul><li>Telefon: 10000000 → 10000001</li></ul>`,
    });
    const email = { before: null, after: 'kontakt@a.example' };
    expect(told({ phoneNumber, email, name: { before: 'Gammel A/S', after: NAME } }).headline).toBe(
      `Nye oplysninger om ${NAME}: navn, e-mail og telefonnummer`,
    );
  });

  it('names values that are gone', () => {
    expect(told({ website: { before: 'a.example', after: null } })).toMatchObject({
      headline: `${NAME} har ikke længere en hjemmeside i CVR`,
      tagLine: 'Hjemmeside: a.example → ikke længere oplyst',
    });
  });

  it('shortens long texts only in the tag line', () => {
    const after = `Selskabets formål er ${'meget langt '.repeat(40)}og slut.`;
    const { tagLine, content } = told({ purpose: { before: null, after } });
    expect(tagLine.length).toBeLessThan(140);
    expect(tagLine).toMatch(/^Formål: Selskabets formål er (?:meget langt )+(?:meget )?…$/);
    expect(content).toContain(after);
  });

  it('mentions monthly employees if their number enters another interval', () => {
    const count = (before: number | null, after: number | null) =>
      newsOf(changeOf({ monthlyEmployeeCount: { year: 2026, month: 1, before, after } }), SETTINGS);
    expect(count(5, 9)).toEqual([]);
    expect(count(null, 9)).toEqual([]);
    expect(count(9, 10).map(({ tagLine }) => tagLine)).toEqual(['Antal ansatte, januar 2026: 9 → 10']);
    expect(count(1_000, 3_000)).toEqual([]);
  });
});

describe('a company’s life', () => {
  it('is described in everyday words', () => {
    expect(told({ status: { before: 'NORMAL', after: 'UNDER KONKURS' } })).toMatchObject({
      headline: `${NAME} er gået konkurs`,
      tagLine: 'Status: Normal → Under konkurs.',
    });
    expect(told({ status: { before: null, after: 'NORMAL' } }).headline).toBe(`${NAME} har fået ny status: Normal`);
    expect(told({ status: { before: 'UNDER KONKURS', after: 'NORMAL' } }).headline).toBe(
      `${NAME} har igen normal status`,
    );
    expect(told({ status: { before: null, after: 'Noget nyt' } }).headline).toBe(
      `${NAME} har fået ny status: Noget nyt`,
    );
    expect(told({ lifetimeEnded: { date: '2026-02-28T00:00:00' } }).headline).toBe(
      `${NAME} er ophørt den 28. februar 2026`,
    );
  });

  it('has a merger before the status that follows from it, in one item', () => {
    const merger = { entity: firm('Eksempelhavn Byg ApS'), dissolved: true };
    const { headline, content } = told({ merger, status: { before: 'NORMAL', after: 'OPLØST EFTER FUSION' } });
    expect(headline).toBe(`${NAME} er ophørt ved fusion med Eksempelhavn Byg ApS`);
    expect(content).toContain(`<p>${NAME} er opløst efter fusion.</p>`);
  });

  it('that continues after all is not said to start now', () => {
    const started = (date: string) =>
      told({ lifetimeStarted: { date } }, { timestamp: '2026-03-02T08:00:00.000Z' }).headline;
    expect(started('2026-03-01T00:00:00')).toBe(`${NAME} er startet den 1. marts 2026`);
    expect(started('2014-03-01T00:00:00')).toBe(`${NAME} er registreret med start den 1. marts 2014`);
  });

  it('begins with one item, not two', () => {
    const items = newsOf(
      changeOf({ newCompany: { entity: firm('x') }, lifetimeStarted: { date: '2026-03-01' } }),
      SETTINGS,
    );
    expect(items.map(({ type, tagLine }) => [type, plainText(tagLine)])).toEqual([
      ['NewCompany', `${NAME} er registreret i CVR som en ny virksomhed med start den 1. marts 2026.`],
    ]);
  });
});

describe('a report', () => {
  const report: ReportData = sampleReport(randomFrom(1), '10000001', NAME, 2025);

  it('has its main figures and a link', () => {
    const { headline, tagLine, content } = told({ newReport: { data: report } }, { kind: 'report' });
    expect(headline).toBe(`${NAME} har offentliggjort årsrapport for 2025`);
    expect(tagLine).toMatch(
      /^Bruttofortjeneste: [\d.-]+ kr\., Årets resultat: [\d.-]+ kr\., Egenkapital: [\d.-]+ kr\.$/,
    );
    expect(content).toContain('<p>Perioden er 1. januar 2025 til 31. december 2025.</p>');
    expect(content).toContain('">Læs årsrapporten</a></p>');
  });

  it('separates doubtful figures, and omits wrong ones and invalid links', () => {
    const equity = { unit: 'DKK', value: 7, calculation: null, sources: [], possibleError: true, error: false };
    const data = {
      ...report,
      reportType: 'Quarterly',
      reportUrl: 'javascript:alert(1)',
      equity,
      assets: { ...equity, error: true },
    };
    const { headline, content } = told({ newReport: { data } });
    expect(headline).toContain('har offentliggjort kvartalsrapport');
    expect(content).toContain('<li>Egenkapital: 7 kr. (tallet kan være forkert i regnskabet)</li>');
    expect(content).not.toMatch(/Balancesum|javascript|<a /);
  });
});

describe('a production unit that is gone', () => {
  it('is reported without saying whether it was closed or taken over', () => {
    const entity = { entityId: 'CVR-2-1999000017', name: 'Lager Nord', type: 'Place' };
    const { headline, tagLine } = told({ pUnitRemoved: { entity } });
    expect(headline).toBe(`${NAME} har ikke længere en af sine produktionsenheder`);
    expect(tagLine).toBe('Udgået produktionsenhed: Lager Nord');
  });
});
