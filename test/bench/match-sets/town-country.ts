/** Farms of villages, practices and clubs, and records that lack most, as a sales rep types them. */
import { addressIn, otherTown, type RegisterDraft, streetIn, typedAddress } from './register-draft.ts';
import { addTrade, meaning, meaningNone, type Place, person, type Trap, typedPlace, typedTown } from './town-draft.ts';
import {
  FARM_ROADS,
  FARMS,
  MEN,
  RURAL,
  SPORTS,
  STEM_BACKS,
  STEM_FRONTS,
  STREETS,
  SURNAMES,
  TOWNS,
  WOMEN,
} from './town-words.ts';

/** A farm and its farmer, with the address in the register and as neighbours give it: by the village. */
export function farmPlace(register: RegisterDraft) {
  const { random } = register;
  const town = random.pick(RURAL);
  const farm = random.pick(FARMS);
  const farmer = `${random.pick(MEN)} ${random.pick(SURNAMES)}`;
  const street = streetIn(random, FARM_ROADS);
  const village = random.pick([town.villages[0] ?? '', ...town.villages]);
  const byVillage = random.pick([
    { street, postalCode: town.postalCode, city: village },
    { street: `${street}, ${village}`, postalCode: town.postalCode, city: town.name },
    { street, city: village },
  ]);
  return { town, farm, farmer, byVillage, address: addressIn(random, town, street) };
}

const FARM_FORM = { form: 'Enkeltmandsvirksomhed' };

const FARM_TRAPS: Readonly<Record<string, Trap>> = {
  'farm by its village'(register) {
    const { farm, farmer, byVillage, address } = farmPlace(register);
    const entry = register.add({ ...FARM_FORM, name: `${farm} v/${farmer}`, address });
    return meaning(entry, { name: farm, ...byVillage });
  },
  'farmer alone'(register) {
    const { farm, farmer, address } = farmPlace(register);
    const entry = register.add({ ...FARM_FORM, name: `${farm} v/${farmer}`, address });
    return meaning(entry, { name: farmer, ...typedPlace(register, entry) });
  },
  'farm of partners'(register) {
    const { random } = register;
    const { farm, farmer, byVillage, address } = farmPlace(register);
    const entry = register.add({ name: random.pick([`I/S ${farm}`, `${farm} I/S`]), form: 'I/S', address });
    const wife = random.pick(WOMEN);
    const name = random.pick([
      `${farm} I/S`,
      `IS ${farm}`,
      `${farm} v. ${farmer.split(' ')[0]} og ${wife} ${farmer.split(' ')[1]}`,
    ]);
    return meaning(entry, { name, ...byVillage });
  },
  'two farms of one name'(register) {
    const { town, farm, farmer, address } = farmPlace(register);
    const entry = register.add({ ...FARM_FORM, name: `${farm} v/${farmer}`, address });
    const name = `${farm} v/${person(register.random)}`;
    register.add({
      ...FARM_FORM,
      name,
      address: addressIn(register.random, town, streetIn(register.random, FARM_ROADS)),
    });
    return meaning(entry, { name: farm, ...typedPlace(register, entry) });
  },
};

/** The house of a practice that no other practice is at. */
function practiceHouse(register: RegisterDraft) {
  const { random } = register;
  for (;;) {
    const town = random.pick(TOWNS);
    const road = random.pick(STREETS);
    if (register.reserve(`practice ${road}`, town))
      return { town, road, address: addressIn(random, town, `${road} ${random.int(1, 90)}`) };
  }
}

const PRACTICE_TRAPS: Readonly<Record<string, Trap>> = {
  'doctors by their street'(register) {
    const { town, road, address } = practiceHouse(register);
    const entry = register.add({
      name: register.random.pick([`Lægerne ${road} I/S`, `Lægehuset ${road} I/S`]),
      form: 'I/S',
      address,
    });
    const name = register.random.pick([`Lægerne ${road}`, `Lægehuset ${road}`, `Lægerne, ${road}`]);
    return meaning(entry, { name, ...typedTown(register, town) });
  },
  'one dentist of a house'(register) {
    const { address } = practiceHouse(register);
    const [one, other] = [person(register.random), person(register.random)];
    const entry = register.add({ name: `Tandlæge ${one} ApS`, form: 'ApS', address });
    if (other !== one) register.add({ name: `Tandlæge ${other} ApS`, form: 'ApS', address });
    const name = register.random.pick([`Tandlæge ${one}`, `Tdl. ${one}`, `${one}, tandlæge`]);
    return meaning(entry, { name, ...typedPlace(register, entry) });
  },
  'house of dentists/undecidable'(register) {
    const { road, address } = practiceHouse(register);
    for (let dentist = 0; dentist < 2; dentist++)
      register.add({ name: `Tandlæge ${person(register.random)} ApS`, form: 'ApS', address });
    const name = register.random.pick(['Tandlægehuset', 'Tandlægerne', `Tandlægerne ${road}`]);
    return meaningNone({ name, ...typedAddress(register.random, address) });
  },
  'doctor who has retired'(register) {
    const { random } = register;
    const { address } = practiceHouse(register);
    const phone = register.phone();
    const heir = register.add({ name: `Læge ${person(random)} ApS`, form: 'ApS', address, phone });
    const past = { ended: `20${random.int(14, 24)}-06-30`, successor: heir.number };
    const name = `Læge ${person(random)}`;
    const entry = register.add({ ...FARM_FORM, name, address, ...past });
    return meaning(entry, { name, ...typedPlace(register, entry), ...(random.chance(0.5) ? { phone } : {}) });
  },
};

interface Club extends Place {
  /** The village or town in its name. */
  readonly place: string;
  readonly sport: (typeof SPORTS)[number];
}

/** A club's name that no other club has. */
function freeClub(register: RegisterDraft): Club {
  const { random } = register;
  const town = random.chance(0.5) ? random.pick(RURAL) : random.pick(TOWNS);
  const place = random.pick([town.name, ...town.villages, `${random.pick(STEM_FRONTS)}${random.pick(STEM_BACKS)}`]);
  const sport = random.pick(SPORTS);
  const year = random.chance(0.3) ? ` af ${random.int(1890, 1985)}` : '';
  const club = { town, place, sport, name: `${place} ${sport.full}${year}` };
  return register.reserve(`${place} ${sport.full}`) ? club : freeClub(register);
}

export function addClub(register: RegisterDraft) {
  const club = freeClub(register);
  const address = addressIn(register.random, club.town, streetIn(register.random, FARM_ROADS));
  return { ...club, entry: register.add({ name: club.name, form: 'Forening', address }) };
}

const BRANCHES = [
  'Ældre Sagen',
  'Dansk Røde Kors',
  'Venstre',
  'Hjerteforeningen',
  'Gigtforeningen',
  'Kræftens Bekæmpelse',
  'Folkekirkens Nødhjælp',
  'Dansk Blindesamfund',
  'Diabetesforeningen',
  'Mødrehjælpen',
  'Høreforeningen',
  'Natteravnene',
] as const;

function freeBranch(register: RegisterDraft) {
  const { random } = register;
  for (;;) {
    const town = random.pick(TOWNS);
    const body = random.pick(BRANCHES);
    if (register.reserve(body, town)) return { town, body };
  }
}

function addBranch(register: RegisterDraft) {
  const branch = freeBranch(register);
  const name = `${branch.body} - ${branch.town.name} Afdeling`;
  const address = addressIn(register.random, branch.town);
  return { ...branch, entry: register.add({ name, form: 'Forening', address }) };
}

const CLUB_TRAPS: Readonly<Record<string, Trap>> = {
  'club as people say'(register) {
    const { town, place, sport, entry } = addClub(register);
    return meaning(entry, { name: `${place} ${sport.said}`, ...typedTown(register, town) });
  },
  'club among others of its village'(register) {
    const { town, place, name, entry } = addClub(register);
    for (const { full } of SPORTS)
      if (register.random.chance(0.4) && register.reserve(`${place} ${full}`))
        register.add({ name: `${place} ${full}`, form: 'Forening', address: entry.address });
    return meaning(entry, { name: name.replace(/ af \d+$/, ''), postalCode: town.postalCode });
  },
  'branch of a society'(register) {
    const { town, body, entry } = addBranch(register);
    const { name } = town;
    return meaning(entry, {
      name: register.random.pick([`${body} ${name}`, `${body}, ${name}`, body]),
      ...typedTown(register, town),
    });
  },
  'branch of another town/missing'(register) {
    addBranch(register);
    const { town, body } = freeBranch(register);
    return meaningNone({ name: `${body} ${town.name}`, ...typedTown(register, town) });
  },
};

const GOODS = [
  'Keramik',
  'Vin & Ost',
  'Kaffebrænderi',
  'Uld',
  'Bryghus',
  'Planteskole',
  'Savværk',
  'Mejeri',
  'Antik',
] as const;

/** A name that says more than trade and town. */
function rareName({ random }: RegisterDraft) {
  const word = `${random.pick(STEM_FRONTS)}${random.pick(STEM_BACKS)}`;
  return { word, name: `${word} ${random.pick(GOODS)}`, town: random.pick(TOWNS) };
}

export function addRare(
  register: RegisterDraft,
): ReturnType<typeof rareName> & { readonly entry: ReturnType<typeof addTrade> } {
  const rare = rareName(register);
  if (!register.reserve(rare.name) || !register.reserve(rare.word, rare.town)) return addRare(register);
  return { ...rare, entry: addTrade(register, rare.town, rare.name) };
}

const SPARSE_TRAPS: Readonly<Record<string, Trap>> = {
  'rare name alone'(register) {
    const { name, entry } = addRare(register);
    return meaning(entry, { name });
  },
  'rare name in another town'(register) {
    const { name, town, entry } = addRare(register);
    return meaning(entry, { name, ...typedTown(register, otherTown(register.random, town)) });
  },
  'half of a rare name'(register) {
    const { word, town, entry } = addRare(register);
    return meaning(entry, { name: word, ...typedTown(register, town) });
  },
  'street without a town'(register) {
    const { name, entry } = addRare(register);
    return meaning(entry, { name: name.toLowerCase(), street: entry.address?.street });
  },
};

export const COUNTRY_TRAPS = { ...FARM_TRAPS, ...PRACTICE_TRAPS, ...CLUB_TRAPS, ...SPARSE_TRAPS };
