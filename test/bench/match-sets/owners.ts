/** Traps of those that own a company, and of what becomes of it. */
import type { IndexEntry } from '../../../src/match/describe/entry.ts';
import type { Drawn, Trap } from './traps.ts';
import { bareName, hostOf, streetName, typedName, typedPhone, typedPlace, typedWebsite, typedWell } from './typing.ts';
import type { World } from './world.ts';

/** A company that works, and those that own it and its house, at one address. */
function withOwners(world: World): { readonly working: IndexEntry; readonly holding: IndexEntry } {
  const [name, address] = [world.name(), world.place()];
  const [working, holding] = ['', ' Holding', ' Ejendomme'].map((end) =>
    world.plant({ name: `${name}${end}`, form: 'ApS', address, ...(end === '' ? {} : { phone: null }) }),
  );
  return { working: working ?? world.plant(), holding: holding ?? world.plant() };
}

function shelfCompany(world: World): Drawn {
  const [year, day] = [world.random.int(1998, 2024), world.random.int(1, 14)];
  const month = world.random.pick(['januar', 'marts', 'maj', 'august', 'oktober', 'december']);
  const [name, other] = [day, day + 14].map((each) => `Anpartsselskabet af ${each}. ${month} ${year}`);
  if (name === undefined || !world.claim(name)) return shelfCompany(world);
  const meant = world.plant({ name, form: 'ApS' });
  if (other !== undefined) world.plant({ name: other, form: 'ApS' });
  return { record: { name, city: meant.address?.city }, meant };
}

/** Named by its house, at the address of its owner. */
function propertyCompany(world: World): Drawn {
  const { street, city } = world.place();
  const begin = streetName(street);
  if (!world.claim(`houses ${begin} ${city}`)) return propertyCompany(world);
  const house = world.random.int(1, 150);
  const nameOf = (number: number): string => `Ejendomsselskabet ${begin} ${number}, ${city}`;
  const meant = world.plant({ name: nameOf(house), form: 'ApS' });
  for (const other of [house + 2, house + 10]) world.plant({ name: nameOf(other), form: 'ApS' });
  return { record: { name: `Ejendomsselskabet ${begin} ${house}`, city }, meant };
}

export const OWNERS: Readonly<Record<string, Trap>> = {
  'owner: company beside its holding': (world) => {
    const { working: meant } = withOwners(world);
    return { record: { name: bareName(meant.name), ...typedPlace(world.random, meant) }, meant };
  },
  'owner: the holding itself': (world) => {
    const { holding: meant } = withOwners(world);
    return { record: typedWell(world.random, meant), meant };
  },
  'owner: holding alone in the index': (world) => {
    const absent = world.sketch({ form: 'ApS' });
    world.plant({ name: `${bareName(absent.name)} Holding`, form: 'ApS', address: absent.address });
    return { record: typedWell(world.random, absent), meant: null };
  },
  'owner: initials of two holdings-undecidable': (world) => {
    const name = `${hostOf(world.brand()).slice(0, 3).toUpperCase()} Holding`;
    for (const end of ['2012', 'af 1999', world.town().city]) world.plant({ name: `${name} ${end}`, form: 'ApS' });
    return { record: { name, phone: typedPhone(world.random, world.phone()) }, meant: null };
  },
  'owner: siblings at one address': (world) => {
    const [name, address] = [world.brand(), world.place()];
    const ends = [' Byg', ' Byg 2015', ' Byg Service', ' Byg Udlejning'];
    const all = ends.map((end) => world.plant({ name: `${name}${end}`, form: 'ApS', address }));
    const meant = all[world.random.int(0, 3)] ?? world.plant();
    return { record: { name: bareName(meant.name), ...typedPlace(world.random, meant) }, meant };
  },
  "owner: date of a shelf company's name": shelfCompany,
  'owner: house number in the name': propertyCompany,
  'owner: limited partnership beside its general partner': (world) => {
    const [name, address] = [`Vindpark ${world.brand()}`, world.place()];
    const partnership = world.plant({ name: `K/S ${name}`, form: 'K/S', address });
    const partner = world.plant({ name: `Komplementarselskabet ${name}`, form: 'ApS', address });
    const isPartner = world.random.chance(0.3);
    const typed = isPartner
      ? `Kompl.selskabet ${name} ApS`
      : world.random.pick([`K/S ${name}`, `${name} K/S`, `KS ${name}`]);
    const meant = isPartner ? partner : partnership;
    return { record: { name: typed, ...typedPlace(world.random, meant) }, meant };
  },
};

export const CHANGES: Readonly<Record<string, Trap>> = {
  'change: moved, another is at the old address': (world) => {
    const old = world.place();
    const meant = world.plant({ formerAddresses: [{ value: old, until: world.day(2012, 2025) }] });
    world.plant({ address: old });
    return { record: { name: typedName(world.random, meant.name), ...old }, meant };
  },
  'change: moved, and the host tells': (world) => {
    const { entry, host } = world.hosted();
    const record = {
      name: typedName(world.random, entry.name),
      ...world.place(),
      website: typedWebsite(world.random, host),
    };
    return { record, meant: entry };
  },
  'change: renamed': (world) => {
    const value = world.name();
    const meant = world.plant({
      name: world.brandName(),
      form: 'A/S',
      formerNames: [{ value: `${value} A/S`, until: world.day(2010, 2024) }],
    });
    return { record: { name: value, city: meant.address?.city, postalCode: meant.address?.postalCode }, meant };
  },
  'change: former name that another bears now': (world) => {
    const name = world.brandName();
    const until = world.day(2008, 2018);
    world.plant({ name: world.name(), form: 'ApS', formerNames: [{ value: `${name} ApS`, until }] });
    const meant = world.plant({ name, form: 'ApS' });
    return { record: { name, ...typedPlace(world.random, meant) }, meant };
  },
  'change: taken over': (world) => {
    const { number } = world.plant({ name: world.brandName(), form: 'A/S' });
    const meant = world.plant({ ended: world.day(2014, 2025), successor: number });
    return { record: typedWell(world.random, meant), meant };
  },
  'change: bankrupt and founded again, the number tells': (world) => {
    const [name, address] = [world.name(), world.place()];
    const meant = world.plant({ name, form: 'ApS', address, ended: world.day(2016, 2023) });
    world.plant({ name: `${name} ${world.random.int(2017, 2024)}`, form: 'ApS', address });
    return { record: { name, ...typedPlace(world.random, meant), number: `DK${meant.number}` }, meant };
  },
};
