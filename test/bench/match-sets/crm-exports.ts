/** A CRM that grew for ten years: web forms, business cards, phone lists, the export of an old ERP system. */
import type { RecordText } from '../../../src/match/describe/described.ts';
import type { IndexEntry } from '../../../src/match/describe/entry.ts';
import type { Random } from '../../../src/protocol/sample/random.ts';
import { GROUPS, PUBLIC } from './groups.ts';
import type { LabelledSet } from './set.ts';
import { drawSet, type Trap } from './traps.ts';
import {
  asPrinted,
  bareName,
  ruined,
  spelledOut,
  streetName,
  typedName,
  typedPhone,
  typedPlace,
  typedWebsite,
  typedWell,
  withSlip,
} from './typing.ts';
import * as from from './words.ts';
import type { World } from './world.ts';

const mailboxOf = (person: string): string => spelledOut(person).toLowerCase().replace(/ /gu, '.');
const freemail = (world: World, person: string): string =>
  `${mailboxOf(person)}${world.random.int(1, 99)}@${world.random.pick(from.FREEMAIL)}`;

const printed = (record: RecordText): RecordText => ({
  ...record,
  name: asPrinted(record.name ?? ''),
  street: asPrinted(record.street ?? ''),
  city: asPrinted(record.city ?? ''),
});

/** A company with Danish letters in its name. */
function withDanishLetters(world: World): IndexEntry {
  const part = { name: world.name(), address: world.place() };
  return /[æøåÆØÅ]/u.test(part.name) ? world.plant(part) : withDanishLetters(world);
}

const WEB_FORMS: Readonly<Record<string, Trap>> = {
  'web form: contact and work e-mail': (world) => {
    const { entry, host } = world.hosted();
    const person = world.person();
    return { record: { name: person, email: `${mailboxOf(person)}@${host}` }, meant: entry };
  },
  'web form: company and freemail': (world) => {
    const meant = world.plant();
    return { record: { name: typedName(world.random, meant.name), email: freemail(world, world.person()) }, meant };
  },
  'web form: person and freemail-undecidable': (world) => {
    const person = world.person();
    world.plant({ name: `${world.random.pick(from.TRADES)} v/${person}`, form: 'Enkeltmandsvirksomhed' });
    world.plant({ name: `${person} Holding`, form: 'ApS' });
    return { record: { name: person, email: freemail(world, person) }, meant: null };
  },
  'web form: brand that only the host names': (world) => {
    const { entry, host } = world.hosted();
    const website = `https://www.${host}/${world.random.pick(['webshop', 'lej', 'kampagne', 'da'])}`;
    return { record: { name: world.brand(), website, country: 'Denmark' }, meant: entry };
  },
  'web form: test row': (world) => {
    const name = world.random.pick([
      'test test',
      'Privat',
      'Kontantkunde',
      'Diverse debitorer',
      'asdf',
      '-',
      'Ukendt',
      'Ole test',
      'N/A',
    ]);
    const city = world.random.chance(0.5) ? world.town().city : null;
    return {
      record: { name, city, phone: world.random.pick(['12345678', '00000000', '11111111', null]) },
      meant: null,
    };
  },
};

const CARDS: Readonly<Record<string, Trap>> = {
  'business card: trade name, website, old address': (world) => {
    const name = world.brandName();
    const { entry, host } = world.hosted({ name: `${world.firm().name}`, otherNames: [name] });
    const record = { name, ...world.place(), phone: typedPhone(world.random, world.phone()) };
    return { record: { ...record, website: typedWebsite(world.random, host) }, meant: entry };
  },
  'business card: trade name and town': (world) => {
    const name = `${world.random.pick(['Salon', 'Studie', 'Atelier', 'Butik', 'Galleri'])} ${world.brand()}`;
    const meant = world.plant({
      name: `${world.surname()} & ${world.surname()} ${world.random.int(2008, 2024)}`,
      otherNames: [name],
    });
    return { record: { name, city: meant.address?.city }, meant };
  },
  'business card: English name': (world) => {
    const stem = world.brand();
    const [danish, english] = world.random.pick<readonly [string, string]>([
      ['Vindteknik', 'Wind Engineering'],
      ['Fødevarer', 'Foods'],
      ['Møbelfabrik', 'Furniture'],
      ['Skibsværft', 'Shipyard'],
      ['Landbrugsmaskiner', 'Agricultural Machinery'],
    ]);
    const meant = world.plant({ name: `${stem} ${danish}`, form: 'A/S', otherNames: [`${stem} ${english} A/S`] });
    world.plant({ name: `${world.brand()} ${english}`, form: 'A/S' });
    return { record: { name: `${stem} ${english}`, ...typedPlace(world.random, meant) }, meant };
  },
  'business card: owner for the shop': (world) => {
    const owner = world.person();
    const meant = world.plant({ name: `Salon ${world.brand()} v/${owner}`, form: 'Enkeltmandsvirksomhed' });
    return { record: { name: owner, ...typedPlace(world.random, meant) }, meant };
  },
  'business card: owner before the shop': (world) => {
    const [owner, shop] = [
      world.person(),
      `${world.brand()} ${world.random.pick(['Hudpleje', 'Keramik', 'Massage', 'Hundepension'])}`,
    ];
    const meant = world.plant({ name: `${shop} v/${owner}`, form: 'Enkeltmandsvirksomhed' });
    const name = `${owner} ${world.random.pick(['-', '/', '–', 'fra'])} ${shop}`;
    return { record: { name, phone: typedPhone(world.random, world.phone()), city: meant.address?.city }, meant };
  },
  'business card: doctor in a shared clinic': (world) => {
    const address = world.place();
    const doctor = world.person();
    const meant = world.plant({ name: `Læge ${doctor}`, form: 'ApS', address });
    world.plant({ name: `Læge ${world.person()}`, form: 'ApS', address });
    world.plant({ name: `Lægerne ${streetName(address.street)}`, form: 'I/S', address });
    const title = world.random.pick(['Læge', 'Speciallæge', 'Dr.']);
    return { record: { name: `${title} ${doctor}, Lægehuset`, ...typedPlace(world.random, meant) }, meant };
  },
};

const PHONE_LISTS: Readonly<Record<string, Trap>> = {
  'phone list: short name': (world) => {
    const meant = world.plant({
      name: world.brandName(),
      phone: world.phone(),
    });
    world.plant({ name: `${meant.name.split(' ')[0]} Ejendomme`, form: 'ApS', phone: world.phone() });
    return { record: { name: meant.name.split(' ')[0], phone: typedPhone(world.random, meant.phone) }, meant };
  },
  'phone list: phone of an accountant': (world) => {
    const { meant, phone } = withAccountant(world);
    return { record: { name: typedName(world.random, meant.name), phone: typedPhone(world.random, phone) }, meant };
  },
  'phone list: phone of an accountant, company not in the index': (world) => {
    const { phone } = withAccountant(world);
    const absent = world.sketch();
    return {
      record: { name: typedName(world.random, absent.name), phone: typedPhone(world.random, phone) },
      meant: null,
    };
  },
  'phone list: phone that another company has now': (world) => {
    const { phone } = world.plant({ phone: world.phone() });
    const absent = world.sketch({ phone });
    return { record: { ...typedWell(world.random, absent), phone: typedPhone(world.random, phone) }, meant: null };
  },
};

/** Companies that gave the register the phone of their accountant; one of them is meant. */
function withAccountant(world: World): { readonly meant: IndexEntry; readonly phone: string } {
  const accountant = world.plant({ name: `${world.brand()} Revision`, form: 'A/S', phone: world.phone() });
  const { phone } = accountant;
  const clients = [1, 2, 3, 4].map(() => world.plant({ phone }));
  return { meant: clients[0] ?? accountant, phone: phone ?? '' };
}

/** Companies whose first thirty letters are the same, as capitals were printed. */
function cutAlike(world: World): IndexEntry {
  const [stem, estate] = [world.brand(), world.random.pick(from.HOUSING)];
  const begin = world.random.pick([
    `Andelsboligforeningen ${estate} ${stem}`,
    `Komplementarselskabet ${stem} Vindmøllelaug`,
    `Ejendomsselskabet ${stem} Erhvervspark`,
    `Den selvejende institution ${stem}`,
  ]);
  const form = begin.startsWith('Andel') ? 'Forening' : 'ApS';
  const all = ['Nord', 'Syd', 'Øst'].map((end) => world.plant({ name: `${begin} ${end}`, form }));
  return all[world.random.int(0, 2)] ?? world.plant();
}

const ERP: Readonly<Record<string, Trap>> = {
  'ERP: capitals, cut at thirty letters': (world) => {
    const meant = cutAlike(world);
    return { record: printed({ name: meant.name, ...typedPlace(world.random, meant) }), meant };
  },
  'ERP: letters spelled out': (world) => {
    const meant = withDanishLetters(world);
    const record = typedWell(world.random, meant);
    const out = { ...record, name: spelledOut(record.name ?? ''), street: spelledOut(record.street ?? '') };
    return { record: printed({ ...out, city: spelledOut(record.city ?? '') }), meant };
  },
  'ERP: ruined letters': (world) => {
    const meant = withDanishLetters(world);
    return { record: ruined(world.random, typedWell(world.random, meant)), meant };
  },
  'ERP: street in the place of the city': (world) => {
    const meant = world.plant();
    const { street, postalCode, ...record } = typedWell(world.random, meant);
    const contact = world.random.chance(0.5) ? `Att. ${world.person()}` : null;
    return { record: { ...record, street: contact, city: street, postalCode }, meant };
  },
  'ERP: postal code and town in one field': (world) => {
    const meant = world.plant();
    const record = typedWell(world.random, meant);
    const both = `${world.random.pick(['', 'DK-', 'DK '])}${record.postalCode} ${record.city}`;
    const place = world.random.pick<RecordText>([
      { postalCode: both, city: null },
      { postalCode: null, city: both },
      { street: `${record.street}, ${both}`, postalCode: null, city: null },
    ]);
    return { record: { ...record, ...place }, meant };
  },
  'ERP: all in the name': (world) => {
    const meant = world.plant();
    const { name, street, postalCode, city } = typedWell(world.random, meant);
    return { record: { name: `${name}, ${street}, ${postalCode} ${city}` }, meant };
  },
  'ERP: contact for the name, company in the street': (world) => {
    const meant = world.plant();
    const { name, street, ...record } = typedWell(world.random, meant);
    return { record: { ...record, name: world.person(), street: `${name}, ${street}` }, meant };
  },
  'ERP: c/o another company': (world) => {
    const host = world.plant({ name: `${world.brand()} Revision`, form: 'A/S' });
    const meant = world.plant({ address: host.address });
    const record = typedWell(world.random, meant);
    return { record: { ...record, street: `c/o ${bareName(host.name)}, ${record.street}` }, meant };
  },
  'ERP: number of quite another company-undecidable': (world) => {
    const [named, numbered] = [world.plant(), world.plant()];
    return { record: { ...typedWell(world.random, named), number: numbered.number }, meant: null };
  },
  'ERP: mark of a duplicate': (world) => {
    const meant = world.plant();
    const { name, postalCode, city } = typedWell(world.random, meant);
    return { record: { name: marked(world.random, name ?? ''), postalCode, city }, meant };
  },
  'ERP: production unit for the number': (world) => {
    const company = world.plant({ form: 'A/S' });
    const unit = world.unit(company, {
      name: `${bareName(company.name)} ${world.random.pick(['Lager', 'Butik', 'Filial'])}`,
    });
    const number = world.random.pick([
      unit.number,
      `P-nr. ${unit.number}`,
      `${unit.number.slice(0, 4)} ${unit.number.slice(4)}`,
    ]);
    return { record: { name: typedName(world.random, company.name), number }, meant: company };
  },
  'ERP: SE-number for the number': (world) => {
    const meant = world.plant();
    return { record: { ...typedWell(world.random, meant), number: `SE ${world.cvr()}` }, meant };
  },
  'ERP: slip in the number': (world) => {
    const meant = world.plant();
    return { record: { ...typedWell(world.random, meant), number: withSlip(world.random, meant.number) }, meant };
  },
  'ERP: number alone': (world) => {
    const meant = world.plant();
    const spaced = meant.number.replace(/(..)(?=.)/gu, '$1 ');
    const number = world.random.pick([
      `DK${meant.number}`,
      `DK-${meant.number}`,
      spaced,
      `CVR-nr.: ${spaced}`,
      `${meant.number}.0`,
    ]);
    return {
      record: { name: world.random.pick([null, '?', `Debitor ${world.random.int(10_000, 99_999)}`]), number },
      meant,
    };
  },
};

const marked = (random: Random, name: string): string =>
  random.pick([
    `${name} (DUBLET)`,
    `ZZ ${name} - brug ikke`,
    `${name}_old`,
    `*** ${name} ***`,
    `${name} - 2`,
    `${name} (kopi)`,
    `NY!! ${name}`,
    `${name} [inaktiv]`,
  ]);

const PAST: Readonly<Record<string, Trap>> = {
  'past: ended long ago': (world) => {
    const meant = world.plant({ ended: world.day(2008, 2016) });
    world.plant({ address: meant.address });
    return { record: typedWell(world.random, meant), meant };
  },
  'past: ended, and another bears the name elsewhere': (world) => {
    const name = `${world.random.pick(from.PLACES_TO_EAT)} ${world.brand()}`;
    const meant = world.plant({ name, form: 'ApS', ended: world.day(2010, 2019) });
    world.plant({ name, form: 'ApS' });
    return { record: { name, ...typedPlace(world.random, meant) }, meant };
  },
  'past: not in the index, new tenant at its address': (world) => {
    const absent = world.sketch();
    world.plant({ address: absent.address });
    return { record: typedWell(world.random, absent), meant: null };
  },
  'past: IVS that became ApS': (world) => {
    const stem = world.brand();
    const until = world.day(2019, 2021);
    const meant = world.plant({
      name: `${stem} Media`,
      form: 'ApS',
      formerNames: [{ value: `${stem} Media IVS`, until }],
    });
    world.plant({ name: `${stem} Medier`, form: 'ApS', address: world.place() });
    const record = world.random.pick([typedPlace(world.random, meant), { city: meant.address?.city }]);
    return { record: { name: `${stem} Media IVS`, ...record }, meant };
  },
};

const TRAPS = { ...WEB_FORMS, ...CARDS, ...PHONE_LISTS, ...ERP, ...GROUPS, ...PAST, ...PUBLIC };

export const crmExports = (seed: number, records: number): LabelledSet =>
  drawSet('crm-exports', TRAPS, { seed, records });
