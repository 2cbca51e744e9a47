import { describe, expect, it } from 'vitest';
import { entry, HAVNEGADE, RINGVEJ } from './entries.ts';
import { matched } from './matched.ts';

const nordlys = entry('10000001', 'Nordlys Møbler ApS', { address: RINGVEJ, phone: '86123456' });
const ringvej = { street: RINGVEJ.street, postalCode: RINGVEJ.postalCode };

describe('a record without a number', () => {
  it.each([
    'Nordlys Møbler',
    'Nordlys Moebler aps',
    'NORDLYS MØBLER ApS.',
    'Nordlys M\u00c3\u00b8bler',
    'Nordlys Møbler Ap.S.',
  ])('spelled %s means the company', async (name) =>
    expect(await matched([nordlys], { name, ...ringvej })).toMatch(/^certain \| 10000001 \|/),
  );

  it('that spells the form otherwise than the register is not certain: A/S and ApS are two companies', async () => {
    expect(await matched([nordlys], { name: 'Nordlys Møbler A/S', ...ringvej })).toMatch(
      /^likely \| 10000001 .*another form/,
    );
  });

  it('finds the company of a name with & by og, and of Sønder by Sdr.', async () => {
    const company = entry('10000002', 'Sønder Hansen & Søn I/S', { address: RINGVEJ });
    expect(await matched([company], { name: 'Sdr. Hansen og Søn I.S.', ...ringvej })).toMatch(/^certain/);
  });

  it('finds the owner’s company without its v/', async () => {
    const company = entry('10000003', 'Salon Solbakke v/Ole Hansen', { phone: '22334455' });
    expect(await matched([company], { name: 'Salon Solbakke', phone: '+45 22 33 44 55' })).toMatch(/^certain/);
  });

  it('with Danmark behind its name is likely, not certain: a group has both', async () => {
    expect(await matched([nordlys], { name: 'Nordlys Møbler Danmark ApS', ...ringvej })).toMatch(
      /^likely .*but for Danmark/,
    );
  });

  it('of a group means the company of its whole name, and never the holding', async () => {
    const group = ['Nordlys Møbler ApS', 'Nordlys Møbler Holding ApS', 'Nordlys Møbler Ejendomme ApS'].map((name, at) =>
      entry(`1000000${at + 1}`, name, { address: RINGVEJ, phone: '86123456' }),
    );
    expect(await matched(group, { name: 'Nordlys Møbler', ...ringvej })).toMatch(/^certain \| 10000001/);
    expect(await matched(group, { name: 'Nordlys Møbler Holding', phone: '86123456' })).toMatch(/^certain \| 10000002/);
    expect(await matched(group, { name: 'Nordlys', ...ringvej, phone: '86123456' })).toMatch(/^ambiguous/);
  });

  it('in another town than the company is not certain by the domain, which is spelled by the name', async () => {
    const namesake = entry('10000001', 'Havblik Cykler ApS', { address: HAVNEGADE, website: 'havblikcykler.dk' });
    const record = { name: 'Havblik Cykler ApS', website: 'havblikcykler.dk', ...ringvej };
    expect(await matched([namesake], record)).toMatch(/^likely .*another town/);
    expect(await matched([namesake], { name: record.name, website: record.website })).toMatch(/^certain/);
  });

  it('whose name is only part of the company’s is left to a person, even with the same phone and address', async () => {
    const holding = entry('10000001', 'Nordlys Møbler Holding ApS', { address: RINGVEJ, phone: '86123456' });
    expect(await matched([holding], { name: 'Nordlys Møbler ApS', phone: '86123456', ...ringvej })).toMatch(
      /^likely .*such as Holding/,
    );
    expect(await matched([holding], { name: 'Solvind ApS', phone: '86123456', ...ringvej })).toMatch(/^ambiguous/);
  });

  it('of two companies of one name at one address is left to a person', async () => {
    const twins = [nordlys, entry('10000002', 'Nordlys Møbler A/S', { address: RINGVEJ })];
    expect(await matched(twins, { name: 'Nordlys Møbler', ...ringvej })).toMatch(/^ambiguous \| 10000001 10000002/);
    expect(await matched(twins, { name: 'Nordlys Møbler A/S', ...ringvej })).toMatch(/^likely \| 10000002/);
  });

  it('of a chain means the company that has a production unit there', async () => {
    const chain = entry('10000001', 'Nordlys Retail A/S', { address: RINGVEJ });
    const shop = entry('1000000011', 'Kaffe Nord Odense', { company: '10000001', address: HAVNEGADE });
    const others = [2, 3, 4].map((at) =>
      entry(`1000000${at}`, 'Kaffe Nord ApS', { address: { ...RINGVEJ, postalCode: `${at}00${at}` } }),
    );
    const record = { name: 'Kaffe Nord Odense', street: 'Havnegade 12B', postalCode: '5000' };
    expect(await matched([chain, shop, ...others], record)).toMatch(/^certain \| 10000001 .*production unit/);
  });

  it('with a common name is matched by its address', async () => {
    const many = Array.from({ length: 60 }, (_, at) =>
      entry(`100001${String(at).padStart(2, '0')}`, 'Kaffe Nord ApS', {
        address: { street: `Algade ${at + 1}`, postalCode: String(4000 + at), city: 'By' },
      }),
    );
    expect(await matched(many, { name: 'Kaffe Nord', street: 'Algade 58', postalCode: '4057' })).toMatch(
      /^certain \| 10000157/,
    );
    expect(await matched(many, { name: 'Kaffe Nord' })).toMatch(/^ambiguous/);
  });

  it('at an address of hundreds of companies needs more than the address', async () => {
    const hotel = Array.from({ length: 30 }, (_, at) =>
      entry(`100002${String(at).padStart(2, '0')}`, `Firma ${'ABCDEFGHIJKLMNOPQRSTUVWXYZÆØÅ'.charAt(at)}lund ApS`, {
        address: RINGVEJ,
      }),
    );
    expect(await matched([...hotel, nordlys], { name: 'Nordlys Møbler', ...ringvej })).toMatch(
      /^likely .*as many companies/,
    );
    expect(await matched([...hotel, nordlys], { name: 'Andet Navn', ...ringvej })).toBe('none');
  });

  it('is not found by a freemail domain, nor certain by the phone of an accountant', async () => {
    const clients = Array.from({ length: 9 }, (_, at) =>
      entry(`1000003${at}`, `Klient${at} Byg ApS`, { phone: '70101010', email: 'a@gmail.com' }),
    );
    expect(await matched(clients, { name: 'Noget Helt Andet', email: 'x@gmail.com', phone: '70101010' })).toBe('none');
    expect(await matched(clients, { name: 'Klient3 Byg ApS', phone: '70101010' })).toMatch(
      /^likely \| 10000033 .*as several companies/,
    );
  });

  it('under a former name that is free today means the company that had it', async () => {
    const renamed = entry('10000001', 'Solvind A/S', {
      formerNames: [{ value: 'Nordlys Møbler A/S', until: '2021-05-01' }],
      phone: '86123456',
      address: RINGVEJ,
    });
    expect(await matched([renamed], { name: 'Nordlys Møbler', phone: '86 12 34 56', ...ringvej })).toMatch(
      /^likely .*was called Nordlys Møbler A\/S until 2021/,
    );
  });

  it('under a former name that another company took is not certain', async () => {
    const renamed = entry('10000001', 'Solvind A/S', {
      formerNames: [{ value: 'Nordlys Møbler A/S', until: '2021-05-01' }],
      phone: '86123456',
    });
    const heir = entry('10000002', 'Nordlys Møbler A/S', { address: HAVNEGADE });
    expect(await matched([renamed, heir], { name: 'Nordlys Møbler', phone: '86123456' })).toMatch(
      /^ambiguous \| 10000002 10000001/,
    );
  });

  it('with an address that the company left is matched with a remark', async () => {
    const moved = entry('10000001', 'Nordlys Møbler ApS', {
      address: HAVNEGADE,
      formerAddresses: [{ value: RINGVEJ, until: '2021-05-01' }],
    });
    expect(await matched([moved], { name: 'Nordlys Møbler', ...ringvej })).toMatch(
      /^likely .*moved from Ringvej 1, 8000 Aarhus C in 2021/,
    );
  });

  it('of two letters needs more than its name', async () => {
    const short = entry('10000001', 'KT A/S', { phone: '86123456', address: RINGVEJ });
    expect(await matched([short], { name: 'KT' })).toBe('none');
    expect(await matched([short], { name: 'KT', phone: '86123456', ...ringvej })).toMatch(/^likely/);
  });

  it('with a P-number in the number’s place means the company of the production unit', async () => {
    const unit = entry('1000000011', 'Nordlys Lager', { company: '10000001', address: HAVNEGADE });
    const record = { name: 'Nordlys Møbler', number: 'P-nr. 1000000011' };
    expect(await matched([nordlys, unit], record)).toMatch(
      /^certain \| 10000001 \| the number is of its production unit/,
    );
  });

  it('under its English trade name means the company that has it as a secondary name', async () => {
    const trading = entry('10000001', 'Nordlys Møbler ApS', {
      otherNames: ['Northern Light Furniture'],
      phone: '86123456',
    });
    expect(await matched([trading], { name: 'Northern Light Furniture', phone: '86123456' })).toMatch(
      /^certain .*secondary name/,
    );
  });

  it('in care of somebody has the address behind it', async () => {
    expect(
      await matched([nordlys], { name: 'Nordlys Møbler', street: 'c/o Ole Hansen, Ringvej 1', postalCode: '8000' }),
    ).toMatch(/^certain/);
  });

  it('of a company that ended is reported as such, with its successor', async () => {
    const ended = entry('10000001', 'Nordlys Møbler ApS', {
      address: RINGVEJ,
      ended: '2020-01-31',
      successor: '10000009',
    });
    expect(await matched([ended], { name: 'Nordlys Møbler ApS', ...ringvej })).toMatch(
      /^dissolved \| 10000001 .*ended in 2020/,
    );
  });

  it('of numbers and letters that differ is not the same: Byg 2 is not Byg 3, II not III', async () => {
    for (const [a, b] of [
      ['Nordlys Byg 2', 'Nordlys Byg 3'],
      ['Nordlys Byg II', 'Nordlys Byg III'],
      ['Nordlys Byg A', 'Nordlys Byg B'],
    ] as const)
      expect(
        await matched([entry('10000001', `${a} ApS`, { address: RINGVEJ, phone: '86123456' })], {
          name: `${b} ApS`,
          ...ringvej,
          phone: '86123456',
        }),
      ).not.toMatch(/^certain/);
  });

  it('that is a person, or abroad, means no company', async () => {
    expect(await matched([nordlys], { name: 'Ole Hansen', email: 'ole@gmail.com' })).toBe('person');
    expect(await matched([nordlys], { name: 'Nordlicht GmbH', country: 'Tyskland' })).toBe('foreign');
    expect(await matched([nordlys], { name: 'Nordlys Møbler', country: 'Norge' })).toBe('foreign');
  });

  it.each([
    '',
    'x',
    '"',
    'a" OR "b',
    'NEAR(a b)',
    "'; drop table link; --",
    '%',
    '株式会社',
    'Ελλάς',
    'a'.repeat(10_000),
    '\u0000',
    '\ud800',
  ])('called %j is read, and matches nothing', async (name) => expect(await matched([nordlys], { name })).toBe('none'));
});
