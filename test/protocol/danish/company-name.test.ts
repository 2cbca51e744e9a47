import { describe, expect, it } from 'vitest';
import { readCompanyName } from '../../../src/protocol/danish/company-name.ts';

const compact = (name: string): string => readCompanyName(name).compact;

describe('a company name', () => {
  it.each([
    ['Nordlys Møbler ApS', 'Nordlys Møbler'],
    ['Nordlys Møbler A/S', 'NORDLYS MOEBLER A.S.'],
    ['Nordlys Møbler A/S', 'Nordlys Møbler A / S'],
    ['Nordlys Møbler A/S', 'Nordlys Mobler Aktieselskab'],
    ['Nordlys Møbler A/S', 'Nordlys M\u00c3\u00b8bler A/S'],
    ['Nordlys Møbler ApS', 'Nordlys Møbler Ap.S.'],
    ['Andel F.M.B.A.', 'Andel FMBA'],
    ['Andel A.M.B.A.', 'andel a.m.b.a'],
    ['Hansen & Søn', 'Hansen og Søn'],
    ['Hansen & Søn', 'Hansen + Son'],
    ['Aarhus Glas ApS', 'Århus Glas ApS'],
    ['Sønder Omme Auto', 'Sdr. Omme Auto'],
    ['København Cykler', 'Kbh. Cykler'],
    ['Christian Bang A/S', 'Chr. Bang A/S'],
    ['Brødrene Lund I/S', 'Brdr. Lund I.S.'],
    ['Nordlys Danmark A/S', 'Nordlys Denmark'],
    ['Salon Sol v/Ole Hansen', 'Salon Sol'],
    ['Salon Sol v/ Ole Hansen', 'Salon Sol'],
    ["Jensen's Byg", 'Jensens Byg'],
    ['Nordlys Møbler ApS', 'Nordlys Møbler A.p.S'],
    ['A/S Nordlys Møbler', 'Nordlys Møbler'],
    ['K/S Vind 14', 'Vind 14 K/S'],
    ['Hansen &amp; Søn', 'Hansen og Søn'],
    ['E/F Ringvej 12', 'Ejerforeningen Ringvej 12'],
    ['A/B Ringvej 12', 'Andelsboligforeningen Ringvej 12'],
    ['Nordlys AB, filial af Nordlys AB, Sverige', 'Nordlys AB'],
    ['Nordlys ApS under konkurs', 'Nordlys'],
  ])('%s is the same as %s', (a, b) => expect(compact(a)).toBe(compact(b)));

  it.each([
    ['Nordlys Byg', 'Nordlys Bygning'],
    ['Nordlys ApS', 'Nordlys Holding ApS'],
    ['Byg 2 ApS', 'Byg 3 ApS'],
    ['P.S. Kaffe', 'Kaffe'],
    ['Filial Nordlys', 'Nordlys'],
    ['E/F Ringvej 12', 'A/B Ringvej 12'],
  ])('%s is not the same as %s', (a, b) => expect(compact(a)).not.toBe(compact(b)));

  it.each([
    ['Nordlys ApS', 'aps'],
    ['Nordlys A/S', 'as'],
    ['Nordlys I/S', 'is'],
    ['Nordlys P/S', 'ps'],
    ['Nordlys IVS', 'ivs'],
    ['Nordlys Smba', 'smba'],
    ['Nordlys GmbH', 'gmbh'],
    ['A/S Nordlys', 'as'],
    ['Is og Kaffe', null],
    ['Nordlys', null],
    ['AS', null],
  ])('%s has the form %s', (name, form) => expect(readCompanyName(name).form).toBe(form));

  it('says Denmark, and who stands behind it', () => {
    expect(readCompanyName('Nordlys Danmark A/S').saysDenmark).toBe(true);
    expect(readCompanyName('Danmark A/S')).toMatchObject({ saysDenmark: false, compact: 'danmark' });
    expect(readCompanyName('Salon Sol v/Ole Hansen').owner).toBe('ole hansen');
  });

  it.each(['', ' ', '.', '&', 'A/S', '"; drop table link; --', 'NEAR("a" OR *)', '株式会社', '\u0000', '\ud800'])(
    'is read of %j, too',
    (name) => expect(() => readCompanyName(name)).not.toThrow(),
  );

  it('of ten thousand letters is read in a moment', () => {
    // Of this process alone: others may have the processor meanwhile.
    const began = process.cpuUsage();
    for (const text of ['a'.repeat(10_000), ' '.repeat(10_000), 'a.'.repeat(5_000), 'v/ '.repeat(3_000)])
      expect(readCompanyName(text).compact.length).toBeLessThan(300);
    expect(process.cpuUsage(began).user).toBeLessThan(1_000_000);
  });
});
