import { describe, expect, it } from 'vitest';
import { isOtherWord } from '../../src/protocol/danish/name-words.ts';
import { entry, HAVNEGADE, RINGVEJ } from './entries.ts';
import { matched } from './matched.ts';

const phone = '86123456';

describe('a name of a live company', () => {
  const holding = entry('10000001', 'Fjordbyg Holding ApS', {
    formerNames: [{ value: 'Fjordbyg ApS', until: '2021-05-01' }],
    address: RINGVEJ,
    phone,
  });

  it('is not certain if the phone is that of the company that gave the name up', async () => {
    const heir = entry('10000002', 'Fjordbyg ApS', { address: RINGVEJ });
    for (const rest of [{}, RINGVEJ, { street: RINGVEJ.street }])
      expect(await matched([holding, heir], { name: 'Fjordbyg ApS', phone, ...rest })).toMatch(/^ambiguous .*10000002/);
    const elsewhere = entry('10000002', 'Fjordbyg ApS', { address: HAVNEGADE });
    expect(await matched([holding, elsewhere], { name: 'Fjordbyg', phone, ...RINGVEJ })).toMatch(/^ambiguous/);
    // One that has ended says nothing against the company that has the name's phone.
    const ended = { ...elsewhere, ended: '2015-01-01' };
    expect(await matched([holding, ended], { name: 'Fjordbyg Holding', phone, ...RINGVEJ })).toMatch(/^certain/);
  });

  it('comes first, however many candidates look better', async () => {
    const others = [1, 2, 3, 4, 5].map((at) =>
      entry(`1000001${at}`, `Solvind ${at} ApS`, {
        formerNames: [{ value: 'Fjordbyg ApS', until: '2021-05-01' }],
        address: RINGVEJ,
        phone,
      }),
    );
    const heir = entry('10000002', 'Fjordbyg ApS', { address: HAVNEGADE, phone: '22334455' });
    expect(await matched([...others, heir], { name: 'Fjordbyg ApS', phone, ...RINGVEJ })).toMatch(
      /^ambiguous \| 10000002 (?:1000001\d ?){4}\|/,
    );
  });

  it('of a company that became a holding does not match it if the index lacks the successor', async () => {
    for (const name of ['Fjordbyg ApS', 'Fjordbyg'])
      expect(await matched([holding], { name, phone, ...RINGVEJ })).toMatch(/^ambiguous \| 10000001 .*of its group/);
  });
});

describe('a name that is a letter away', () => {
  const simon = entry('10000001', 'Simon Ravn Holding ApS', { address: RINGVEJ, phone });

  it('is uncertain if a sister elsewhere has exactly the name of the record', async () => {
    const simone = entry('10000002', 'Simone Ravn Holding ApS', { address: HAVNEGADE });
    expect(await matched([simon, simone], { name: 'Simone Ravn Holding ApS', ...RINGVEJ })).toMatch(
      /^ambiguous \| .*10000002/,
    );
  });

  it.each([
    ['Simone Ravn Holding ApS', 'Simon Ravn Holding ApS'],
    ['Karin Lund Design', 'Karen Lund Design ApS'],
    ['Lasse Holm Biler', 'Lisse Holm Biler'],
    ['Louis Mørk Consult', 'Louise Mørk Consult ApS'],
    ['Michael Toft ApS', 'Michala Toft ApS'],
    ['Jansen Transport', 'Jensen Transport ApS'],
    ['Ravnsborg Maler', 'Ravnsborg Murer ApS'],
    ['Ravnsborg Malerfirma', 'Ravnsborg Murerfirma ApS'],
    ['Ravnsborg Bryggeri', 'Ravnsborg Byggeri ApS'],
    ['Østergaard Smedie', 'Vestergaard Smedie'],
    ['Lasse Mortensen Rådgivning Ap', 'Lisse Mortensen Rådgivning ApS'],
  ])('%s is not %s, though phone and address are', async (name, other) => {
    const sister = entry('10000001', other, { address: RINGVEJ, phone });
    expect(await matched([sister], { name, phone, ...RINGVEJ })).toMatch(/^ambiguous \| 10000001/);
  });

  it.each([
    ['Simonn Ravn Holding ApS', 'Simon Ravn Holding ApS'],
    ['Karen Lundt Design', 'Karen Lund Design ApS'],
    ['Hanssn Transport', 'Hansen Transport ApS'],
    ['Ravnsborg Malerfima', 'Ravnsborg Malerfirma ApS'],
    ['Ravnsborg Malerfirmaet', 'Ravnsborg Malerfirma ApS'],
    ['Havblick Møbler', 'Havblik Møbler ApS'],
  ])('%s is a slip for %s', async (name, other) => {
    const company = entry('10000001', other, { address: RINGVEJ, phone });
    expect(await matched([company], { name, phone, ...RINGVEJ })).toMatch(/^likely \| 10000001 .*nearly the same/);
  });

  it('can be another word within a longer one, at its beginning or its end', () => {
    expect(isOtherWord('murerteamet', 'malerteamet')).toBe(true);
    expect(isOtherWord('nordjensen', 'nordjansen')).toBe(true);
    expect(isOtherWord('gruppen', 'gruppe')).toBe(false);
    expect(isOtherWord('havblik', 'havblig')).toBe(false);
  });
});
