import { describe, expect, it } from 'vitest';
import { entry, HAVNEGADE, RINGVEJ } from './entries.ts';
import { matched } from './matched.ts';

const nordlys = entry('10000001', 'Nordlys Møbler ApS', { address: RINGVEJ, phone: '86123456' });
const ringvej = { street: RINGVEJ.street, postalCode: RINGVEJ.postalCode };
const phone = '86123456';

describe('a name as a CRM spells it', () => {
  it.each([
    'Nordlys Møbler A.p.S',
    'ApS Nordlys Møbler',
    'Nordlys M\u00c3\u0192\u00c2\u00b8bler ApS',
    'Nordlys M&oslash;bler ApS',
    ' NORDLYS MØBLER A.P.S."',
  ])('%s is the same name', async (name) =>
    expect(await matched([nordlys], { name, ...ringvej })).toMatch(/^certain \| 10000001 .*same name/),
  );

  it('can have the form in front, as some have in the register', async () => {
    const company = entry('10000002', 'A/S Havblik Cykler', { address: RINGVEJ });
    expect(await matched([company], { name: 'Havblik Cykler A.S.', ...ringvej })).toMatch(/^certain .*same name/);
  });

  it.each([
    'Nordlys Møbler ApS - Salgsafdelingen',
    'Nordlys Møbler | alt i møbler',
    'Nordlys Møbler (kunde 1123)',
    'Nordlys Møbler ApS att. bogholderi',
    '[gammel] Nordlys Møbler',
    'Ole Hansen - Nordlys Møbler',
  ])('%s has an addition, and is likely', async (name) =>
    expect(await matched([nordlys], { name, ...ringvej, phone })).toMatch(/^likely \| 10000001 .*an addition/),
  );

  it.each(['Nordlys Møbler - Holding', 'Nordlys Møbler, 2', 'Nordlys Møbler (Ejendomme)', 'Nordlys Møbler - af 2015'])(
    '%s is a sister, which the index may lack',
    async (name) => expect(await matched([nordlys], { name, ...ringvej, phone })).toMatch(/^ambiguous/),
  );

  it('can name after a dash the owner that the register has after v/', async () => {
    const company = entry('10000003', 'Salon Sol v/ Ole Hansen', { address: RINGVEJ });
    for (const name of ['Ole Hansen - Salon Sol', 'Salon Sol (Ole Hansen)', 'Salon Sol v. O. Hansen'])
      expect(await matched([company], { name, ...ringvej })).toMatch(/^certain \| 10000003/);
  });

  it('of one trade and another owner is another company', async () => {
    const company = entry('10000003', 'Konsulent v/ Ole Hansen', { address: RINGVEJ });
    expect(await matched([company], { name: 'Konsulent v/ Ulla Lund', ...ringvej })).toMatch(/^ambiguous/);
    expect(await matched([company], { name: 'Konsulent v/ O. Hansen', ...ringvej })).toMatch(/^certain/);
  });

  it('is found among many of one trade by its owner', async () => {
    const many = Array.from({ length: 60 }, (_, at) =>
      entry(`100004${String(at).padStart(2, '0')}`, `Konsulent v/ Ole Berg${String.fromCharCode(97 + (at % 26))}${at}`),
    );
    const name = 'Konsulent v/ Ulla Lund';
    expect(await matched([...many, entry('20000001', name, { phone })], { name, phone })).toMatch(
      /^certain \| 20000001/,
    );
  });

  it('can have its words in another order', async () => {
    expect(await matched([nordlys], { name: 'Møbler Nordlys', ...ringvej, phone })).toMatch(/^certain .*another order/);
    expect(await matched([nordlys], { name: 'Møbler Nordlys' })).toMatch(/^likely \| 10000001/);
  });

  it('can be cut at the length of a CRM field', async () => {
    const company = entry('10000004', 'Nordlys Møbler og Indretning Aalborg ApS', { address: RINGVEJ });
    expect(await matched([company], { name: 'Nordlys Møbler og Indretning Aalb', ...ringvej })).toMatch(
      /^likely .*shortened/,
    );
    const group = entry('10000004', 'Nordlys Møbler og Indretning Holding ApS', { address: RINGVEJ, phone });
    expect(await matched([group], { name: 'Nordlys Møbler og Indret', ...ringvej, phone })).toMatch(/^likely/);
    // At the end of a word it is a part of the name, and may be a sister's.
    expect(await matched([company], { name: 'Nordlys Møbler og Indretning', ...ringvej })).toMatch(/^likely .*is part/);
  });

  it('can shorten words with a dot, and a given name to its letter', async () => {
    const company = entry('10000005', 'Ole Hansen Tømrerforretning ApS', { address: RINGVEJ });
    for (const name of ['O. Hansen Tømrerforretning', 'Ole Hansen Tømrerforr.', 'O. Hansen Tømrerforr. ApS'])
      expect(await matched([company], { name, ...ringvej })).toMatch(/^likely .*shortened/);
    expect(await matched([company], { name: 'P. Hansen Tømrerforretning', ...ringvej })).toMatch(/^none/);
  });

  it('can state its town if the register does not, or the other way round', async () => {
    const shop = entry('1000000011', 'Kaffe Nordlys', { company: '10000001', address: HAVNEGADE });
    const record = { street: 'Havnegade 12B', postalCode: '5000', city: 'Odense' };
    expect(await matched([nordlys, shop], { name: 'Kaffe Nordlys Odense C', ...record })).toMatch(
      /^likely \| 10000001 .*but for the town/,
    );
    const named = entry('10000006', 'Kaffe Nordlys Odense ApS', { address: HAVNEGADE });
    expect(await matched([named], { name: 'Kaffe Nordlys', ...record })).toMatch(/^likely \| 10000006 .*for the town/);
    // Another town is another shop.
    expect(await matched([named], { name: 'Kaffe Nordlys Aarhus', ...record })).toMatch(/^none/);
  });

  it('can lack letters that a system lost', async () => {
    const company = entry('10000007', 'Særkær Tømrer ApS', { address: RINGVEJ, phone });
    for (const name of ['S?rk?r T?mrer ApS', 'S\ufffdrk\ufffdr T\ufffdmrer'])
      expect(await matched([company], { name, ...ringvej, phone })).toMatch(/^likely \| 10000007 .*nearly the same/);
  });

  it('with one more word is a partial name, not a nearly equal one', async () => {
    const company = entry('10000008', 'Havblik Lundgaard IT', { address: RINGVEJ, phone });
    expect(await matched([company], { name: 'Havblik Lundgaard', ...ringvej, phone })).toMatch(/^likely .*is part/);
  });

  it('that differs in a short word by two letters is another name', async () => {
    const company = entry('10000009', 'Hansen Malerfirma ApS', { address: RINGVEJ });
    expect(await matched([company], { name: 'Jensen Malerfirma', ...ringvej })).toBe('none');
    expect(await matched([company], { name: 'Hanssen Malerfrima', ...ringvej })).toMatch(/^likely/);
  });
});

describe('a record with something in another place', () => {
  it.each(['Nordlys Møbler (37 64 23 71)', 'CVR 37642371 Nordlys Møbler', 'Nordlys Møbler - CVR-nr. 37642371'])(
    '%s names the company of the number',
    async (name) => {
      const numbered = entry('37642371', 'Nordlys Møbler ApS', { address: HAVNEGADE });
      expect(await matched([nordlys, numbered], { name })).toMatch(/^certain \| 37642371 .*number stands in the name/);
    },
  );

  it.each([
    'Nordlys Møbler ApS tlf. 86 12 34 56',
    'Nordlys Møbler (Tlf: 86123456)',
    'Nordlys Møbler mobil +45 86123456',
    'Telefon nr. 86 12 34 56 Nordlys Møbler',
  ])('%s is a name and a phone number', async (name) => {
    expect(await matched([nordlys], { name })).toMatch(/^certain \| 10000001 .*phone/);
    // What somebody wrote into the field for it counts first.
    expect(await matched([nordlys], { name, phone: '20123456' })).not.toMatch(/^certain/);
  });

  it('does not take a phone number in the name for a CVR number', async () => {
    const numbered = entry('37642371', 'Nordlys Møbler ApS', { address: HAVNEGADE });
    expect(await matched([numbered], { name: 'Nordlys Møbler tlf. 37 64 23 71' })).not.toMatch(/number stands/);
  });

  it('does not follow a number in the name to a company that is called otherwise', async () => {
    const other = entry('37642371', 'Havblik Cykler ApS', { address: HAVNEGADE });
    expect(await matched([nordlys, other], { name: 'Nordlys Møbler 37642371', ...ringvej })).toMatch(
      /^certain \| 10000001/,
    );
    expect(await matched([other], { name: 'Solvind 37642371' })).toBe('none');
  });

  it.each(['nordlys.example.dk', 'https://www.nordlysmobler.dk/', 'Nordlysmøbler.dk'])(
    '%s is the address of a site, not a name',
    async (name) => {
      const website = 'nordlysmobler.dk';
      const company = entry('10000001', 'Nordlys Møbler ApS', { website });
      const expected = name.includes('example') ? /^none/ : /^(?:certain|likely) \| 10000001/;
      expect(await matched([company], { name })).toMatch(expected);
    },
  );

  it.each([
    '86123456 / 22334455',
    'Telefon 86.12.34.56',
    '86 12 34 56 (Lars)',
    'T: +45 86123456 lok. 12',
    '(+45) 86123456',
  ])('has the phone %s', async (spelled) =>
    expect(await matched([nordlys], { name: 'Nordlys Møbler', phone: spelled })).toMatch(/^certain .*same phone/),
  );

  it.each([
    'Ringvej 1 8000 Aarhus C',
    'Ringvej 1\nDK-8000 Aarhus C',
    'Att. Ole, Ringvej 1, 8000 Aarhus C',
    'Rinvej 1, 8000 Aarhus C',
  ])('has the address %j in one field', async (street) =>
    expect(await matched([nordlys], { name: 'Nordlys Møbler', street })).toMatch(/^(?:certain|likely) \| 10000001/),
  );

  it('with an SE-number in the number’s place means the company of its name', async () => {
    expect(await matched([nordlys], { name: 'Nordlys Møbler', number: 'SE-nr. 12 34 56 78', ...ringvej })).toMatch(
      /^certain \| 10000001/,
    );
  });

  it('can state a street that begins with a number', async () => {
    const company = entry('10000001', 'Nordlys Møbler ApS', {
      address: { street: '10. Februar Vej 3', postalCode: '8000', city: 'Aarhus C' },
    });
    const record = { name: 'Nordlys Møbler', postalCode: '8000' };
    expect(await matched([company], { ...record, street: '10. februar vej 3' })).toMatch(/^certain/);
    expect(await matched([company], { ...record, street: '10. Februar Vej 5' })).toMatch(/same street/);
  });

  it('with another phone and another domain than the company’s may be of a namesake', async () => {
    const company = entry('10000001', 'Nordlys Møbler ApS', { phone, website: 'nordlys.dk' });
    const record = { name: 'Nordlys Møbler', phone: '22334455', website: 'solvind.dk' };
    expect(await matched([company], record)).toMatch(/^ambiguous .*another phone; another domain/);
    expect(await matched([company], { name: record.name })).toMatch(/^likely/);
  });

  it('in another street of the postal code, with another phone and domain, may be of a namesake', async () => {
    const company = entry('10000001', 'Nordlys Møbler ApS', { address: RINGVEJ, phone, website: 'nordlys.dk' });
    const record = { name: 'Nordlys Møbler', postalCode: '8000', phone: '22334455', website: 'solvind.dk' };
    expect(await matched([company], record)).toMatch(/^likely .*same postal code/);
    expect(await matched([company], { ...record, street: 'Algade 9' })).toMatch(/^ambiguous .*another street/);
  });

  it('with nothing but a phone or a domain is likely if no other company has it', async () => {
    const company = entry('10000001', 'Nordlys Møbler ApS', { phone, website: 'nordlys.dk' });
    expect(await matched([company], { phone })).toBe('likely | 10000001 | same phone');
    expect(await matched([company], { website: 'nordlys.dk' })).toMatch(/^likely .*its own domain/);
    expect(await matched([company], { name: 'NML', website: 'nordlys.dk' })).toMatch(/^likely .*its own domain/);
    const holding = { ...company, name: 'Nordlys Holding ApS' };
    for (const entries of [[holding], [company, { ...holding, number: '10000002', company: '10000002' }]])
      expect(await matched(entries, { website: 'nordlys.dk' })).toMatch(/^ambiguous .*domain nordlys.dk/);
  });
});

describe('a company of a special kind', () => {
  it('is the branch of a foreign one', async () => {
    const branch = entry('10000001', 'Nordlys AB, filial af Nordlys AB, Sverige', { address: RINGVEJ });
    const record = { ...ringvej, country: 'Danmark' };
    expect(await matched([branch], { name: 'Nordlys AB', ...record })).toMatch(/^certain/);
    expect(await matched([branch], { name: 'Nordlys Danmark', ...record })).toMatch(/^likely/);
  });

  it('is bankrupt or winds up, as its name says', async () => {
    for (const name of ['Nordlys Møbler ApS under konkurs', 'Nordlys Møbler ApS under frivillig likvidation'])
      expect(
        await matched([entry('10000001', name, { address: RINGVEJ })], { name: 'Nordlys Møbler', ...ringvej }),
      ).toMatch(/^certain/);
  });

  it('is of owners or tenants: E/F and A/B', async () => {
    const houses = entry('10000001', 'E/F Ringvej 1', { address: RINGVEJ });
    expect(await matched([houses], { name: 'Ejerforeningen Ringvej 1', ...ringvej })).toMatch(/^certain/);
    expect(await matched([houses], { name: 'A/B Ringvej 1', ...ringvej })).not.toMatch(/^(?:certain|likely)/);
  });

  it('is Greenlandic: the register holds it', async () => {
    const address = { street: 'Imaneq 12', postalCode: '3900', city: 'Nuuk' };
    const company = entry('10000001', 'Nuuk Møbler ApS', { address });
    expect(await matched([company], { name: 'Nuuk Møbler', ...address, country: 'Grønland' })).toMatch(/^certain/);
    expect(await matched([company], { name: 'Nuuk Møbler', country: 'GL' })).toMatch(/^likely/);
    expect(await matched([company], { name: 'P/F Nuuk Møbler', country: 'Færøerne' })).toBe('foreign');
  });

  it('is Norwegian by phone and domain, whatever its form', async () => {
    const record = { name: 'Nordlys Møbler AS', phone: '+47 22 12 34 56', website: 'nordlysmobler.no' };
    expect(await matched([nordlys], record)).toBe('foreign');
  });
});
