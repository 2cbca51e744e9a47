/** Bought lists, and what a salesperson noted on the road. */
import type { IndexEntry } from '../../../src/match/describe/entry.ts';
import { CHANGES, OWNERS } from './owners.ts';
import type { LabelledSet } from './set.ts';
import { type Drawn, drawSet, type Trap } from './traps.ts';
import {
  bareName,
  hostOf,
  spelledOut,
  typedName,
  typedPhone,
  typedPlace,
  typedWebsite,
  typedWell,
  withoutDistrict,
  withSlip,
} from './typing.ts';
import * as from from './words.ts';
import type { Town, World } from './world.ts';

/** A town where a chain has no shop yet. */
function townFor(world: World, chain: string): Town {
  const town = world.town();
  return world.claim(`chain ${chain} ${withoutDistrict(town.city)}`) ? town : townFor(world, chain);
}

/** A shop that bears the chain's name beside its own. */
function franchise(world: World, chain: string): IndexEntry {
  const town = townFor(world, chain);
  const otherNames = [`${chain} ${withoutDistrict(town.city)}`];
  const name = `${world.surname()} Retail ${world.random.int(2, 99)}`;
  return world.plant({ name, form: 'ApS', otherNames, address: world.place(town) });
}

const CHAINS: Readonly<Record<string, Trap>> = {
  'chain: franchise shop by brand and town': (world) => {
    const chain = world.random.pick(from.CHAINS);
    const [meant] = [franchise(world, chain), franchise(world, chain)];
    const city = withoutDistrict(meant.address?.city ?? '');
    const name = world.random.pick([`${chain} ${city}`, `${chain}, ${city}`, chain]);
    return { record: { name, city }, meant };
  },
  "chain: the chain's own shop": (world) => {
    const [chain, meant] = ownShops(world);
    const [shop] = [world.place(), world.place()].map((address) =>
      world.unit(meant, { name: `${chain} ${withoutDistrict(address.city)}`, address }),
    );
    return { record: { name: chain, ...typedPlace(world.random, shop ?? meant) }, meant };
  },
  'chain: no shop in that town': (world) => {
    const chain = world.random.pick(from.CHAINS);
    franchise(world, chain);
    const city = withoutDistrict(townFor(world, chain).city);
    return { record: { name: `${chain} ${city}`, city }, meant: null };
  },
  'chain: no town-undecidable': (world) => {
    const chain = `${world.brand()} Caféen`;
    for (const town of [world.town(), world.town(), world.town()])
      world.plant({ name: `${chain} ${town.city}`, form: 'ApS', address: world.place(town) });
    return { record: { name: chain, phone: typedPhone(world.random, world.phone()), country: 'DK' }, meant: null };
  },
  'chain: restaurant of a company with another name': restaurant,
};

function restaurant(world: World): Drawn {
  const name = `${world.random.pick(from.PLACES_TO_EAT)} ${world.random.pick(from.EATERY_NAMES)}`;
  const address = world.place();
  if (!world.claim(`eatery ${name} ${address.city}`)) return restaurant(world);
  const owner = `${world.surname()} & ${world.surname()} ${world.random.int(2009, 2024)}`;
  const meant = world.plant({ name: owner, form: 'ApS', address });
  world.unit(meant, { name, address });
  return { record: { name, ...typedPlace(world.random, meant) }, meant };
}

function ownShops(world: World): readonly [string, IndexEntry] {
  const chain = `${world.brand()} ${world.random.pick(['Sko', 'Byggemarked', 'Apotek', 'Tankstation', 'Møbler'])}`;
  return [chain, world.plant({ name: `${chain} Danmark`, form: 'A/S' })];
}

const NOTES: Readonly<Record<string, Trap>> = {
  'note: contact behind the company': (world) => {
    const meant = world.plant();
    const contact = world.random.pick(from.FIRST_NAMES);
    const name = `${bareName(meant.name)} ${world.random.pick([`v. ${contact}`, `(${contact})`, `/ ${contact}`, `att: ${contact}`, `- ${contact} mob.`])}`;
    return { record: { name, city: meant.address?.city, phone: typedPhone(world.random, world.phone()) }, meant };
  },
  'note: words behind the name': (world) => {
    const meant = world.plant();
    const words = world.random.pick([
      'ring igen uge 34',
      'KOLD',
      'tilbud sendt',
      'messe Herning 2019',
      'OBS rykker',
      'følg op',
      'nej tak',
    ]);
    const name = world.random.pick([
      `${bareName(meant.name)} - ${words}`,
      `${words}: ${bareName(meant.name)}`,
      `${meant.name} (${words})`,
    ]);
    return { record: { name, city: meant.address?.city, postalCode: meant.address?.postalCode }, meant };
  },
  'note: formerly, in brackets': (world) => {
    const [now, then] = [world.random.pick(from.EATERY_NAMES), world.random.pick(from.EATERY_NAMES)];
    const address = world.place();
    const meant = world.plant({ name: `Café ${world.brand()} ${now}`, form: 'ApS', address });
    const gone = world.plant({
      name: `Pizzeria ${world.brand()} ${then}`,
      form: 'ApS',
      address,
      ended: world.day(2012, 2020),
    });
    const name = `${bareName(meant.name)} (${world.random.pick(['tidl.', 'før', 'ex.', 'tidligere'])} ${bareName(gone.name)})`;
    return { record: { name, ...typedPlace(world.random, meant) }, meant };
  },
  'note: initials': (world) => {
    const stem = [world.random.pick(from.VILLAGES), world.brand(), world.random.pick(from.BRAND_KINDS)];
    const meant = world.plant({ name: stem.join(' '), form: 'A/S' });
    const name = stem
      .map((word) => word[0])
      .join('')
      .toUpperCase();
    return { record: { name, ...typedPlace(world.random, meant) }, meant };
  },
  'note: abbreviations': (world) => {
    const stem = world.brand();
    const [long, short] = world.random.pick<readonly [string, string]>([
      [`Københavns ${stem} Tømrerforretning`, `Kbh. ${stem} Tømrerforr.`],
      [`Sønder Omme ${stem} Maskinfabrik`, `Sdr. Omme ${stem} Maskinfabr.`],
      [`Christian ${stem} og Sønner`, `Chr. ${stem} & Sønner`],
      [`Nørre ${stem} Elektricitetsværk`, `Nr. ${stem} El-værk`],
      [`Dansk ${stem} International`, `DK ${stem} Int.`],
      [`Brødrene ${stem} Handelsselskab`, `Brdr. ${stem} Handelsselsk.`],
      [`Ejendomsselskabet ${stem}`, `Ejd.selsk. ${stem}`],
    ]);
    const meant = world.plant({ name: long, form: 'A/S' });
    return { record: { name: short, city: meant.address?.city }, meant };
  },
  'note: misspelled name': (world) => {
    const { surname, trade } = world.firm();
    const meant = world.plant({ name: `${surname} ${trade}`, form: 'ApS' });
    return { record: { ...typedWell(world.random, meant), name: `${misheard(surname)} ${trade}` }, meant };
  },
  'note: words in another order': (world) => {
    const { surname, trade } = world.firm();
    const first = world.random.pick(from.FIRST_NAMES);
    const meant = world.plant({ name: `${first} ${surname} ${trade}`, form: 'ApS' });
    const name = world.random.pick([
      `${trade} ${first} ${surname}`,
      `${surname}, ${first} - ${trade}`,
      `${trade}: ${first[0]}. ${surname}`,
    ]);
    return { record: { name, city: meant.address?.city, phone: typedPhone(world.random, world.phone()) }, meant };
  },
  'note: a first name and a mobile-undecidable': (world) => {
    const name = world.random.pick([
      world.random.pick(from.FIRST_NAMES),
      `${world.random.pick(from.FIRST_NAMES)} tømrer`,
      'Ham fra messen',
    ]);
    return { record: { name, phone: typedPhone(world.random, world.phone()) }, meant: null };
  },
};

const LETTERS: readonly (readonly [RegExp, string])[] = [
  [/aa/u, 'å'],
  [/Aa/u, 'Å'],
  [/Kr/u, 'Chr'],
  [/Chr/u, 'Kr'],
  [/th/iu, 't'],
  [/ck?s/u, 'x'],
  [/kk/u, 'chk'],
  [/ch/u, 'k'],
  [/ø/u, 'ö'],
  [/æ/u, 'ä'],
  [/nd$/u, 'nn'],
  [/v/u, 'w'],
  [/ie/u, 'i'],
  [/ssen$/u, 'sen'],
  [/sen$/u, 'son'],
];
/** A surname as the ear writes it down. */
function misheard(surname: string): string {
  const [pattern, text] = LETTERS.find(([each]) => each.test(surname)) ?? [/(.)(.)(?=.$)/u, '$2$1'];
  return surname.replace(pattern, text);
}

const WAYS: Readonly<Record<string, Trap>> = {
  'way: name and phone': (world) => {
    const meant = world.plant({ phone: world.phone() });
    return {
      record: { name: typedName(world.random, meant.name), phone: typedPhone(world.random, meant.phone) },
      meant,
    };
  },
  'way: slip in the phone': (world) => {
    const meant = world.plant({ phone: world.phone() });
    const phone = typedPhone(world.random, withSlip(world.random, meant.phone ?? ''));
    return { record: { name: typedName(world.random, meant.name), city: meant.address?.city, phone }, meant };
  },
  'way: phone of somebody else': (world) => {
    const { phone } = world.plant({ phone: world.phone() });
    const meant = world.plant();
    return { record: { ...typedWell(world.random, meant), phone: typedPhone(world.random, phone) }, meant };
  },
  'way: website alone': (world) => {
    const { entry, host } = world.hosted();
    return { record: { website: typedWebsite(world.random, host) }, meant: entry };
  },
  'way: page of a platform': (world) => {
    const platform = world.random.pick([
      'facebook.com',
      'www.facebook.com',
      'instagram.com',
      'dk.linkedin.com/company',
      'krak.dk',
    ]);
    world.plant({ website: `https://${platform}/${hostOf(world.brand()).slice(0, -3)}` });
    const meant = world.plant();
    const website = `https://${platform}/${hostOf(meant.name).slice(0, -3)}`;
    return { record: { name: typedName(world.random, meant.name), city: meant.address?.city, website }, meant };
  },
  'way: other ending of the host': (world) => {
    const { entry, host } = world.hosted();
    const website = `www.${host.slice(0, -3)}${world.random.pick(['.com', '.eu', '.net', '.nu'])}`;
    return { record: { name: bareName(entry.name), website }, meant: entry };
  },
  'way: e-mail alone': (world) => {
    const { entry, host } = world.hosted();
    const box = world.random.pick([
      spelledOut(world.random.pick(from.FIRST_NAMES)).toLowerCase(),
      'salg',
      'info',
      'bogholderi',
    ]);
    return { record: { email: `${box}@${world.random.pick([host, host.toUpperCase()])}` }, meant: entry };
  },
  'way: form that an agency filled': (world) => {
    const { host } = world.hosted({ name: `${world.brand()} Reklamebureau` });
    const meant = world.plant();
    return {
      record: { name: typedName(world.random, meant.name), city: meant.address?.city, email: `jp@${host}` },
      meant,
    };
  },
  'way: phone passed on': (world) => {
    const { phone } = world.plant({ phone: world.phone() });
    return { record: { name: world.name(), phone: typedPhone(world.random, phone) }, meant: null };
  },
  'way: name of two letters': (world) => {
    const name = `${world.random.pick(['3', 'K', 'L', 'P', 'B', 'Ø'])}${world.random.pick(['F', 'P', 'E', 'K', 'S', 'Å'])}`;
    const [meant] = [world.plant({ name, form: 'ApS' }), world.plant({ name, form: 'Enkeltmandsvirksomhed' })] as const;
    return { record: { name, ...typedPlace(world.random, meant) }, meant };
  },
};

const SOLE = 'Enkeltmandsvirksomhed';

/** Two sole proprietors of one name in one town. */
function namesakes(world: World): { readonly meant: IndexEntry; readonly town: Town } {
  const [{ name }, town] = [world.firm(), world.town()];
  world.plant({ name, form: SOLE, address: world.place(town) });
  return { meant: world.plant({ name, form: SOLE, address: world.place(town) }), town };
}

/** A name that many towns know, in two towns, and a third one. */
function generic(world: World): { readonly name: string; readonly home: Town } {
  const name = world.random.pick(from.GENERIC);
  for (const town of [townFor(world, name), townFor(world, name)])
    world.plant({ name, form: SOLE, address: world.place(town) });
  return { name, home: townFor(world, name) };
}

const NEIGHBOURS: Readonly<Record<string, Trap>> = {
  'neighbour: namesake in one town, the street decides': (world) => {
    const { meant } = namesakes(world);
    return { record: { name: meant.name, ...typedPlace(world.random, meant) }, meant };
  },
  'neighbour: namesake in one town-undecidable': (world) => {
    const { meant, town } = namesakes(world);
    return { record: { name: meant.name, ...town }, meant: null };
  },
  'neighbour: namesake in another town': (world) => {
    const { name } = world.plant({ name: world.firm().name, form: SOLE });
    return { record: { name, ...world.place(), phone: typedPhone(world.random, world.phone()) }, meant: null };
  },
  'neighbour: generic name and town': (world) => {
    const { name, home } = generic(world);
    const meant = world.plant({ name, form: SOLE, address: world.place(home) });
    return { record: { name, city: home.city }, meant };
  },
  'neighbour: generic name, no shop in that town': (world) => {
    const { name, home } = generic(world);
    return { record: { name, ...home, phone: typedPhone(world.random, world.phone()) }, meant: null };
  },
  'neighbour: trade and address of a list': (world) => {
    const { name, trade } = world.firm();
    const meant = world.plant({ name });
    world.plant({
      name: `${world.surname()} Holding ${world.random.int(2003, 2024)}`,
      form: 'ApS',
      address: meant.address,
    });
    return { record: { name: trade, ...typedPlace(world.random, meant) }, meant };
  },
  'neighbour: same trade, new tenant of the premises': (world) => {
    const [address, kind] = [world.place(), world.random.pick(from.PLACES_TO_EAT)];
    world.plant({ name: `${kind} ${world.brand()}`, form: 'ApS', address });
    return { record: { name: `${kind} ${world.brand()}`, ...address }, meant: null };
  },
  'neighbour: same trade and town, another owner': (world) => {
    const [absent, town] = [world.firm(), world.town()];
    world.plant({ name: `${world.surname()} & ${world.surname()} ${absent.trade}`, address: world.place(town) });
    const phone = world.random.chance(0.5) ? typedPhone(world.random, world.phone()) : null;
    return { record: { name: absent.name, ...town, phone }, meant: null };
  },
  'neighbour: not in the index': (world) => ({ record: typedWell(world.random, world.sketch()), meant: null }),
  'neighbour: short name of a sports club': (world) => {
    const [village, sport] = [
      world.random.pick(from.VILLAGES),
      world.random.pick(['Håndbold', 'Fodbold', 'Badminton', 'Gymnastik']),
    ];
    const [address, other] = [world.place(), world.place()];
    const meant = world.plant({ name: `${village} Idrætsforening, ${sport}`, form: 'Forening', address });
    world.plant({ name: `${village} Borgerhus`, form: 'Forening', address: other });
    return { record: { name: `${village} IF ${sport.toLowerCase()}`, ...typedPlace(world.random, meant) }, meant };
  },
};

const TRAPS = { ...CHAINS, ...NOTES, ...WAYS, ...OWNERS, ...CHANGES, ...NEIGHBOURS };

export const salesLists = (seed: number, records: number): LabelledSet =>
  drawSet('sales-lists', TRAPS, { seed, records });
