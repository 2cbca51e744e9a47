/** Traps of groups and their departments, and of public bodies with their institutions. */
import type { IndexEntry } from '../../../src/match/describe/entry.ts';
import { officeHotel } from './filler.ts';
import type { Drawn, Trap } from './traps.ts';
import { bareName, hostOf, typedPhone, typedPlace, typedWell, withoutDistrict } from './typing.ts';
import * as from from './words.ts';
import type { Town, World } from './world.ts';

const FOREIGN_FORMS: Record<string, string> = { DE: 'GmbH', SE: 'AB', NO: 'AS', NL: 'B.V.', FI: 'Oy' };

export const GROUPS: Readonly<Record<string, Trap>> = {
  'group: department': (world) => {
    const { meant, address } = group(world);
    const name = `${bareName(meant.name)}${world.random.pick([', ', ' - ', ' / '])}${world.random.pick(from.DEPARTMENTS)}`;
    return { record: { name, ...typedPlace(world.random, { ...meant, address }) }, meant };
  },
  'group: branch in another town': (world) => {
    const { meant } = group(world);
    const unit = world.unit(meant, { name: meant.name });
    const name = `${bareName(meant.name)} - afd. ${unit.address?.city}`;
    return { record: { name, ...typedPlace(world.random, unit) }, meant };
  },
  'group: subsidiary by its business': (world) => {
    const { meant: parent } = group(world);
    const business = world.random.pick(['Logistik', 'Leasing', 'Finans', 'Transport']);
    const meant = world.plant({ name: `${bareName(parent.name)} ${business}`, form: 'A/S' });
    const name = `${bareName(parent.name)} (${business.toLowerCase()})`;
    return { record: { name, ...typedPlace(world.random, meant) }, meant };
  },
  'group: one host for all its companies': (world) => {
    const stem = world.brand();
    const host = world.host(stem);
    const companies = ['', ' Service', ' Ejendomme'].map((end) =>
      world.plant({ name: `${stem}${end}`, form: 'A/S', website: `www.${host}`, email: `info@${host}` }),
    );
    const meant = companies[world.random.int(0, 2)] ?? null;
    return {
      record: { name: bareName(meant?.name ?? stem), email: `${hostOf(world.surname()).slice(0, 3)}@${host}` },
      meant,
    };
  },
  'group: branch of a foreign company': (world) => {
    const name = `${world.brand()} Industri`;
    const meant = world.plant({
      name: `${name}, filial af ${name} AB, Sverige`,
      form: 'Filial af udenlandsk virksomhed',
    });
    return { record: { name: `${name} AB`, ...typedPlace(world.random, meant) }, meant };
  },
  'group: foreign namesake': (world) => {
    const stem = world.brand();
    world.plant({ name: `${stem} ${world.random.pick(['Teknik', 'Danmark', 'Nordic'])}`, form: 'A/S' });
    const [, postalCode, city, country] = /^([\d ]+) (.+) (..)$/u.exec(world.random.pick(from.FOREIGN_PLACES)) ?? [];
    const street = `${world.random.pick(['Hauptstrasse', 'Storgatan', 'Industriveien', 'Bahnhofstr.'])} ${world.random.int(1, 90)}`;
    return {
      record: { name: `${stem} ${FOREIGN_FORMS[country ?? '']}`, street, postalCode, city, country },
      meant: null,
    };
  },
  'group: two companies in one record-undecidable': (world) => {
    const [one, other] = [world.plant(), world.plant()];
    const name = `${bareName(one.name)} ${world.random.pick(['/', '+', 'og', '&'])} ${bareName(other.name)}`;
    return { record: { name, phone: typedPhone(world.random, world.phone()) }, meant: null };
  },
};

/** A parent and its subsidiaries at one address. */
function group(world: World): { readonly meant: IndexEntry; readonly address: IndexEntry['address'] } {
  const [stem, address] = [world.brand(), world.place()];
  const meant = world.plant({ name: stem, form: 'A/S', address });
  for (const business of ['Produktion', 'Ejendomme', 'Holding'])
    world.plant({ name: `${stem} ${business}`, form: 'ApS', address });
  return { meant, address };
}

/** A parish council, and the friends of its church. */
function parish(world: World): Drawn {
  const [village, address] = [world.random.pick(from.VILLAGES), world.place()];
  if (!world.claim(`parish ${village} ${address.city}`)) return parish(world);
  const meant = world.plant({ name: `${village} Sogns Menighedsråd`, form: 'Menighedsråd', address });
  world.plant({ name: `${village} Kirkes Venner`, form: 'Forening', address: world.place(address) });
  const name = `${village} ${world.random.pick(['Kirke', 'Kirkekontor', 'kirke og sognegård'])}`;
  return { record: { name, ...typedPlace(world.random, meant) }, meant };
}

/** The municipality of some town. */
function municipality(world: World): IndexEntry {
  const town = world.town();
  const name = `${withoutDistrict(town.city)} Kommune`;
  const known = world.entries.find((entry) => entry.name === name);
  return known ?? world.plant({ name, form: 'Primærkommune', address: world.place(town) });
}

const townOf = ({ address }: IndexEntry): Town => ({
  postalCode: address?.postalCode ?? '',
  city: address?.city ?? '',
});

export const PUBLIC: Readonly<Record<string, Trap>> = {
  'public: school of a municipality': (world) => {
    const [home, away] = [municipality(world), municipality(world)];
    const [name, address] = [world.random.pick(from.SCHOOLS), world.place(townOf(home))];
    world.unit(home, { name, address });
    if (away !== home) world.unit(away, { name, address: world.place(townOf(away)) });
    return { record: { name, ...typedPlace(world.random, { ...home, address }) }, meant: home };
  },
  'public: church for its parish council': parish,
  'public: private customer': (world) => {
    const person = world.person();
    world.plant({ name: `${person} ${world.random.pick(from.TRADES)}`, form: 'Enkeltmandsvirksomhed' });
    return { record: { name: person, ...world.place(), phone: typedPhone(world.random, world.phone()) }, meant: null };
  },
  'public: company of an office hotel, not in the index': (world) => {
    const address = officeHotel(world);
    world.plant({ address });
    const absent = world.sketch({ address, name: world.brandName() });
    return { record: { ...typedWell(world.random, absent), website: hostOf(absent.name) }, meant: null };
  },
};
