import { describe, expect, test } from 'vitest';
import { describeUpdates, lineText } from '../../../src/protocol/describe/describe.ts';
import { EVENT_NAMES } from '../../../src/protocol/events.ts';
import type { Address, Industry } from '../../../src/protocol/formats.ts';
import type { Updates } from '../../../src/protocol/payload.ts';
import { samplePayload } from '../../../src/protocol/sample/stream.ts';

/** Each event as `title | label: before → after | …`. */
const told = (updates: Updates, formerShares?: Record<string, string>): readonly string[] =>
  describeUpdates(updates, { formerShares }).map(({ title, lines }) =>
    [title, ...lines.map(({ label, before, after }) => `${label}: ${before ?? '–'} → ${after ?? '–'}`)].join(' | '),
  );

const firm = { entityId: 'CVR-1-99000009', name: 'Luftkastel Holding ApS', type: 'Company' };
const person = { entityId: 'CVR-3-4009999999', name: 'Prøve Opdigtsen', type: 'Person' };
const place = { entityId: 'CVR-2-1099999999', name: 'Lager Nord', type: 'Place' };
const industry = (industryCode: string, industryText: string | null): Industry => ({
  period: null,
  industryCode,
  industryText,
  lastUpdated: null,
});
const nowhere: Address = {
  countryCode: 'DK',
  freeText: null,
  roadCode: null,
  municipality: null,
  houseNumberFrom: null,
  houseNumberTo: null,
  houseLetterFrom: null,
  houseLetterTo: null,
  floor: null,
  sideDoor: null,
  coName: null,
  postalBox: null,
  streetName: null,
  cityName: null,
  postalCode: null,
  postalDistrict: null,
  period: null,
  original: null,
  lastUpdated: null,
  relatedEntityId: null,
  relatedUpdates: null,
};
const home: Address = {
  ...nowhere,
  streetName: 'Eksempelvej',
  houseNumberFrom: 1,
  houseLetterFrom: 'A',
  houseNumberTo: 3,
  floor: 'ST',
  sideDoor: 'tv',
  coName: 'C/O Bo',
  cityName: 'Landsby',
  postalCode: 8000,
  postalDistrict: 'Aarhus C',
};
const abroad: Address = { ...nowhere, countryCode: 'SE', freeText: 'Storgatan 1\n111 22 Stockholm' };
const capital = (value: number, currency: string | null) => ({ value, currency, hasClasses: null, isPartial: null });
const form = (companyFormCode: number, longDescription: string | null) => ({
  companyFormCode,
  longDescription,
  shortDescription: null,
  responsibleDataProvider: null,
  period: null,
  lastUpdated: null,
});

const CASES: readonly (readonly [Updates, string])[] = [
  [{ name: { before: 'A ApS', after: 'B ApS' } }, 'Navn | Navn: A ApS → B ApS'],
  [{ altNames: { added: ['C'], removed: ['D'] } }, 'Binavne | Nyt binavn: – → C | Slettet binavn: D → –'],
  [
    { address: { before: home, after: abroad } },
    'Adresse | Adresse: c/o Bo, Eksempelvej 1A-3, st. tv, Landsby, 8000 Aarhus C → Storgatan 1, 111 22 Stockholm, SE',
  ],
  [
    { industry: { before: industry('561010', 'Restauranter'), after: industry('561190', null) } },
    'Branche | Branche: Restauranter (561010) → 561190',
  ],
  [{ altIndustries: { added: [industry('1', 'Et')], removed: [] } }, 'Bibrancher | Ny bibranche: – → Et (1)'],
  [
    { bylawsChangedDate: { before: '2024-12-31T00:00:00', after: '2026-03-01' } },
    'Vedtægter senest ændret | Vedtægter senest ændret: 31. december 2024 → 1. marts 2026',
  ],
  [
    { capital: { before: capital(40_000, 'DKK'), after: capital(1_250_000.5, 'EUR') } },
    'Selskabskapital | Selskabskapital: 40.000 kr. → 1.250.000,5 EUR',
  ],
  [
    { form: { before: form(80, 'Anpartsselskab'), after: form(60, null) } },
    'Virksomhedsform | Virksomhedsform: Anpartsselskab → Form 60',
  ],
  [{ phoneNumber: { before: '11111111', after: null } }, 'Telefon | Telefon slettet: 11111111 → –'],
  [{ fax: { before: null, after: '' } }, 'Telefax | Telefax slettet: – → –'],
  [{ email: { before: null, after: 'a@example.dk' } }, 'E-mail | E-mail: – → a@example.dk'],
  [{ status: { before: 'NORMAL', after: 'UNDER KONKURS' } }, 'Status | Status: Normal → Under konkurs'],
  [
    { board: { added: [person], removed: [firm] } },
    `Bestyrelse | Tiltrådt: – → ${person.name} | Fratrådt: ${firm.name} → –`,
  ],
  [{ accountant: { added: [{ ...firm, name: null }], removed: [] } }, 'Revisor | Tiltrådt: – → CVR-1-99000009'],
  [{ merger: { entity: firm, dissolved: true } }, `Fusion | Ophørt ved fusion med: – → ${firm.name}`],
  [{ merger: { entity: firm, dissolved: false } }, `Fusion | Fusioneret med: – → ${firm.name}`],
  [{ lifetimeEnded: { date: '2026-03-01' } }, 'Virksomheden er ophørt | Dato: – → 1. marts 2026'],
  [{ pUnitRemoved: { entity: place } }, 'Produktionsenhed udgået | Navn: Lager Nord → –'],
  [
    { subsidiaryFounded: { ownership: { ...firm, ownership: '33.33-50' } } },
    'Datterselskab stiftet | Navn: – → Luftkastel Holding ApS (33,33-50 %)',
  ],
  [{ commercialProtection: { before: false, after: true } }, 'Reklamebeskyttelse | Reklamebeskyttelse: Nej → Ja'],
  [
    { monthlyEmployeeCount: { year: 2026, month: 3, before: 1_200, after: 1_199 } },
    'Ansatte pr. måned | marts 2026: 1.200 → 1.199',
  ],
  [
    { quarterlyEmployees: { year: 2026, quarter: 2, before: '2-4', after: '5-9' } },
    'Ansatte pr. kvartal | 2. kvartal 2026: 2-4 → 5-9',
  ],
  [{ yearlyEmployees: { year: 2025, before: null, after: '1000+' } }, 'Ansatte pr. år | 2025: – → 1000+'],
  [
    { removedFromMonitor: { monitorId: 'm', monitorName: 'Kunder' } },
    'Fjernet fra overvågning | Overvågning: Kunder → –',
  ],
];

describe('a change in Danish', () => {
  test.each(CASES)('%j', (updates, text) => {
    expect(told(updates)).toEqual([text]);
  });

  test('tells the share before where it is known, of the right register', () => {
    const entry = { ...person, ownership: '15-20' };
    const updates: Updates = {
      ownership: {
        added: [{ ...firm, ownership: '5-10' }],
        removed: [{ ...person, ownership: null }],
        changed: [entry],
      },
      trueOwnership: { added: [], removed: [], changed: [{ ...entry, ownership: '17.5' }] },
    };
    expect(told(updates, { [person.entityId]: '10-15', [`trueOwnership ${person.entityId}`]: '12.25%' })).toEqual([
      'Legale ejere | Ny: – → Luftkastel Holding ApS (5-10 %) | Udgået: Prøve Opdigtsen (10-15 %) → – | Prøve Opdigtsen: 10-15 % → 15-20 %',
      'Reelle ejerandele | Prøve Opdigtsen: 12,25 % → 17,5 %',
    ]);
    expect(told({ trueVoteRights: { added: [], removed: [], changed: [{ ...person, voterights: '20' }] } })).toEqual([
      'Reelle ejeres stemmerettigheder | Prøve Opdigtsen: – → 20 %',
    ]);
  });

  test('tells an article with its link, if it is one', () => {
    const article = { source: 'Avisen', headline: 'H', tagline: null, content: null, time: '2026-01-15T11:00:00Z' };
    const linkOf = (link: string | null) => describeUpdates({ newArticle: { ...article, link } })[0]?.lines[0]?.link;
    expect(linkOf('https://example.dk/a')).toBe('https://example.dk/a');
    expect(linkOf('javascript:alert(1)')).toBeUndefined();
    expect(linkOf(null)).toBeUndefined();
    expect(told({ newArticle: { ...article, link: null } })).toEqual([
      'Ny artikel | Avisen: – → H | Udgivet: – → 15. januar 2026 kl. 12.00',
    ]);
  });

  test.each(EVENT_NAMES)('there is one of %s, of which every line says something', (event) => {
    for (let seed = 1; seed <= 20; seed++) {
      const { updates } = samplePayload({ event, now: 0, seed });
      const [described, ...more] = describeUpdates(updates);
      expect(more).toEqual([]);
      expect(described?.event).toBe(event);
      expect(described?.lines.length).toBeGreaterThan(0);
      for (const { label, before, after } of described?.lines ?? []) {
        const text = `${label}|${before ?? ''}|${after ?? ''}`;
        expect(text).not.toMatch(/null|undefined|NaN|\[object|Invalid/);
        if (before === null && after === null) expect(label).toMatch(/ slettet$/);
      }
    }
  });

  test('comes in the order of the specification', () => {
    const { updates } = samplePayload({ now: 0 });
    const events = describeUpdates(updates).map(({ event }) => event);
    expect(events).toEqual(EVENT_NAMES.filter((name) => updates[name] !== undefined));
  });

  test('counts those who may not be named, and names the others', () => {
    const nameless = ({ type }: { readonly type: string | null }) => type === 'Person';
    const lines = (updates: Updates) =>
      describeUpdates(updates, { nameless }).flatMap((one) => one.lines.map(lineText));
    const board = { added: [person, { ...person, entityId: 'CVR-3-4009999998' }, firm], removed: [person] };
    expect(lines({ board })).toEqual(['Tiltrådt: Luftkastel Holding ApS', 'Personer: 2 tiltrådt, 1 fratrådt']);
    const owner = { ...person, ownership: '10-15' };
    const ownership = {
      added: [owner, owner],
      removed: [owner, owner],
      changed: [{ ...firm, ownership: '5-10' }, owner],
    };
    expect(lines({ ownership })).toEqual(['Luftkastel Holding ApS: 5-10 %', 'Personer: 2 nye, 2 udgåede, 1 ændret']);
    expect(lines({ merger: { entity: person, dissolved: true }, newCompany: { entity: firm } })).toEqual([
      'Navn: Luftkastel Holding ApS',
    ]);
    expect(lines({ subsidiaryFounded: { ownership: owner } })).toEqual([]);
  });
});

test('a line as text shows before and after, and indents what it continues on', () => {
  expect(lineText({ label: 'Status', before: 'Normal', after: 'Opløst' })).toBe('Status: Normal → Opløst');
  expect(lineText({ label: 'Navn', before: null, after: 'A\nB', link: 'https://a.example' })).toBe(
    'Navn: A\n    B\n    https://a.example',
  );
  expect(lineText({ label: 'Telefon slettet', before: '10111111', after: null })).toBe('Telefon slettet: 10111111');
});

describe('an article of another service', () => {
  const newArticle = {
    source: 'Avisen',
    headline: '{Prøve Opdigtsen|CVR-3-4009999999} køber {Luftkastel Holding ApS|CVR-1-99000009}',
    tagline: 'Af {Prøve Opdigtsen|cvr-3-4009999999}',
    content: null,
    time: null,
    link: null,
  };
  const texts = (nameless?: (id: string) => boolean) =>
    describeUpdates({ newArticle }, { nameless: nameless && (({ entityId }) => nameless(entityId)) }).flatMap(
      ({ lines }) => lines.map(({ after }) => after),
    );

  test('is told with its tokens resolved', () => {
    expect(texts()).toEqual(['Prøve Opdigtsen køber Luftkastel Holding ApS', 'Af Prøve Opdigtsen']);
  });

  test('names no person where none may be named', () => {
    expect(texts((id) => id.startsWith('CVR-3-'))).toEqual(['en person køber Luftkastel Holding ApS', 'Af en person']);
  });
});

test('what nobody knows after a change is not told as gone', () => {
  expect(told({ commercialProtection: { before: true, after: null } })).toEqual([]);
  expect(told({ monthlyEmployeeCount: { year: 2026, month: 8, before: 12, after: null } })).toEqual([]);
});
