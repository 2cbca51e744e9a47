import { describe, expect, it } from 'vitest';
import { withoutNotes } from '../../../src/match/describe/notes-in-name.ts';
import { entry, HAVNEGADE, RINGVEJ } from '../entries.ts';
import { matched } from '../matched.ts';

const nordlys = entry('10000001', 'Nordlys Møbler ApS', { address: RINGVEJ, phone: '86123456' });
const here = { street: RINGVEJ.street, postalCode: RINGVEJ.postalCode };

describe('a note beside a name', () => {
  it.each([
    'Nordlys Møbler ApS 86 12 34 56',
    'Nordlys Møbler 86123456',
    'Nordlys Møbler, +45 86 12 34 56',
    'Havblik Cykler (nu Nordlys Møbler ApS)',
    'Havblik Cykler, nu Nordlys Møbler',
    'Nordlys Møbler (tidligere Havblik Cykler)',
    'Nordlys Møbler ApS - tidl. Havblik A/S',
    'Nordlys Møbler / faktura',
    'Nordlys Møbler!!!',
    '*VIP* Nordlys Møbler',
    'Nordlys Møbler *VIP* dublet?',
    'Nordlys Møbler (dublet?)',
    'Nordlys Møbler OBS: ring først til Lars',
    'OBS: Nordlys Møbler',
    'Firma Nordlys Møbler',
  ])('%s is the company of its name', async (name) =>
    expect(await matched([nordlys], { name, ...here })).toMatch(
      /^certain \| 10000001 .*(?:same name|but for the form)/,
    ),
  );

  it('can be a phone number that agrees, behind the name', async () =>
    expect(await matched([nordlys], { name: 'Nordlys Møbler 86123456' })).toMatch(/^certain .*same phone/));

  it.each([
    'Kunst Nu ApS',
    'Byens Kontant ApS',
    'Nordlys Test A/S',
    'Ring til os ApS',
    'OBS Consult',
    'VIP',
    'Firmaet',
    'Sol 2100',
    'Nordlys Privat',
  ])('%s is a name as it stands', (name) => expect(withoutNotes(name)).toEqual({ name, phone: undefined }));

  it('belongs to the name if the register has it', async () => {
    const firm = entry('10000002', 'Firma Nordlys Møbler', { address: RINGVEJ });
    expect(await matched([firm], { name: 'Firma Nordlys Møbler', ...here })).toMatch(/^certain .*same name/);
  });

  it('leaves a sister company a sister, and does not match a former holder of the name', async () => {
    expect(await matched([nordlys], { name: 'Nordlys Møbler Holding / faktura', ...here })).toMatch(/^ambiguous/);
    const havblik = entry('10000003', 'Havblik Cykler A/S', { address: HAVNEGADE, phone: '22334455' });
    expect(await matched([havblik], { name: 'Nordlys Møbler (tidligere Havblik Cykler)' })).toBe('none');
  });
});

describe('a company that its record names in part', () => {
  it('has two letters, and the form and address of the record', async () => {
    const short = entry('10000001', 'KT A/S', { address: RINGVEJ });
    expect(await matched([short], { name: 'KT A/S', ...here })).toMatch(/^likely/);
    expect(await matched([short], { name: 'KT', ...here })).toMatch(/^likely .*few letters/);
  });

  it('is found at an address that begins with a contact person', async () => {
    const company = entry('10000001', 'El-Fa ApS', { address: RINGVEJ });
    for (const street of ['Ole Hansen, Ringvej 1', 'Att. Ole Hansen, Ringvej 1', 'Ole Hansen\nRingvej 1'])
      expect(await matched([company], { name: 'El-fa.', street, postalCode: '8000' })).toMatch(
        /^certain .*same address/,
      );
  });

  it('states its form twice', async () => {
    const shelf = entry('10000001', 'ANPARTSSELSKABET AF 3. OKTOBER 2007 ApS', { address: RINGVEJ });
    expect(await matched([shelf], { name: 'Anpartsselskabet af 3. oktober 2007', ...here })).toMatch(
      /^certain .*same name/,
    );
    const other = { name: 'Anpartsselskabet af 4. oktober 2007', ...here };
    expect(await matched([shelf], other)).not.toMatch(/^(?:certain|likely)/);
  });

  it('has the street and the number, and the record a wrong postal code', async () =>
    expect(await matched([nordlys], { name: 'Nordlys Møbler', street: RINGVEJ.street, postalCode: '8001' })).toMatch(
      /^likely .*another postal code/,
    ));

  it('has the street in the town that a record without a postal code names', async () =>
    expect(await matched([nordlys], { name: 'Nordlys Møbler', street: RINGVEJ.street, city: 'Aarhus' })).toMatch(
      /^likely .*address/,
    ));

  it('is known by its domain or its initials', async () => {
    const company = entry('10000001', 'Solvind Detail A/S', { address: RINGVEJ, website: 'havblik.dk' });
    expect(await matched([company], { name: 'Havblik', ...here })).toMatch(/^likely .*domain havblik.dk is the name/);
    expect(await matched([company], { name: 'Havblik', website: 'havblik.dk' })).toMatch(/^likely/);
    const long = entry('10000002', 'Dansk Kaffe Import A/S', { address: RINGVEJ });
    expect(await matched([long], { name: 'DKI', ...here })).toMatch(/^likely \| 10000002 .*initials/);
  });
});
