/** Shops and craftsmen, as a sales rep types them: by a common name, a phone, a person, an address of yesterday. */
import type { IndexEntry } from '../../../src/match/describe/entry.ts';
import type { Random } from '../../../src/protocol/sample/random.ts';
import { addressIn, domainOf, type RegisterDraft, streetIn, typedAddress, typedDomain } from './register-draft.ts';
import {
  addNamesakes,
  addTrade,
  commonName,
  commonPlace,
  firmOf,
  meaning,
  meaningNone,
  type Place,
  person,
  type Trap,
  typedPhoneOf,
  typedPlace,
  typedTown,
} from './town-draft.ts';
import {
  CRAFTS,
  DIVIDED,
  FAROE,
  FAROE_STREETS,
  GREENLAND,
  GREENLAND_STREETS,
  RENAMED,
  SHOPS,
  SURNAMES,
  WOMEN,
} from './town-words.ts';

const salonName = (random: Random): string => `Salon ${random.pick(WOMEN)}`;

/** A trade with a common name, and namesakes of it. */
function addShop(register: RegisterDraft, make = commonName, extra: Partial<IndexEntry> = {}) {
  const place = commonPlace(register, make);
  const shop = addTrade(register, place.town, place.name, extra);
  addNamesakes(register, place);
  return { ...place, shop };
}

const withPhone = (register: RegisterDraft) => ({ phone: register.phone() });

/** A place with a common name that the index does not hold, and namesakes that it does. */
function missingShop(register: RegisterDraft): Place {
  const place = commonPlace(register);
  addNamesakes(register, place);
  return place;
}

const houseOf = (street: string): number => Number(/ (\d+)/.exec(street)?.[1] ?? 1);

export const SHOP_TRAPS: Readonly<Record<string, Trap>> = {
  'shop at its address'(register) {
    const { name, shop } = addShop(register);
    return meaning(shop, { name, ...typedPlace(register, shop) });
  },
  'shop by its town'(register) {
    const { name, town, shop } = addShop(register);
    return meaning(shop, { name, ...typedTown(register, town) });
  },
  'shop twice in town/undecidable'(register) {
    const { name, town } = addShop(register);
    addTrade(register, town, name);
    return meaningNone({ name, ...typedTown(register, town) });
  },
  'shop of another town/missing'(register) {
    const { name, town } = missingShop(register);
    return meaningNone({ name, ...typedAddress(register.random, addressIn(register.random, town)) });
  },
  'shop name alone/undecidable'(register) {
    const { name } = addShop(register);
    return meaningNone({ name, country: register.random.pick(['Danmark', null]) });
  },
  'shop by its phone'(register) {
    const { name, shop } = addShop(register, commonName, withPhone(register));
    return meaning(shop, { name, ...typedPhoneOf(register, shop) });
  },
  'phone alone'(register) {
    const { shop } = addShop(register, commonName, withPhone(register));
    return meaning(shop, { name: register.random.pick([null, '', '?', 'Ukendt']), ...typedPhoneOf(register, shop) });
  },
  'given name and phone'(register) {
    const { name, shop } = addShop(register, salonName, withPhone(register));
    return meaning(shop, { name: name.replace('Salon ', ''), ...typedPhoneOf(register, shop) });
  },
  "accountant's phone/undecidable"(register) {
    const phone = register.phone();
    const { town, shop } = addShop(register, commonName, { phone });
    for (let client = 0; client < 4; client++)
      addTrade(register, town, commonPlace(register, commonName, [town]).name, { phone });
    return meaningNone({
      name: register.random.pick(['Bogholderi', 'Regnskab', null]),
      ...typedPhoneOf(register, shop),
    });
  },
  'e-mail of its own'(register) {
    const { name, town } = commonPlace(register, salonName);
    const domain = domainOf(`${name}-${town.name}`);
    const shop = addTrade(register, town, name, { website: `www.${domain}` });
    return meaning(shop, { name: person(register.random), ...typedDomain(register.random, domain) });
  },
  'freemail of its own'(register) {
    const { name, town } = commonPlace(register, salonName);
    const letters = domainOf(`${name}${town.name}`).replace(/dk$/, '');
    const email = `${letters.replace('.', '')}@${register.random.pick(['gmail.com', 'hotmail.com', 'live.dk'])}`;
    const shop = addTrade(register, town, name, { email });
    addNamesakes(register, { name, town });
    return meaning(shop, { name, email });
  },
  'new owner, same name'(register) {
    const { name, town } = commonPlace(register, ({ pick }) => pick(SHOPS));
    const address = addressIn(register.random, town);
    addTrade(register, town, name, { address, ended: `20${register.random.int(16, 24)}-03-31` });
    const shop = addTrade(register, town, name, { address });
    return meaning(shop, { name, ...typedPlace(register, shop) });
  },
  'another shop in its place/missing'(register) {
    const { name, town } = commonPlace(register, ({ pick }) => pick(SHOPS));
    const other = commonPlace(register, (random) => random.pick(SHOPS), [town]);
    const shop = addTrade(register, town, other.name);
    return meaningNone({ name, ...typedPlace(register, shop) });
  },
  'house renumbered'(register) {
    const { name, town, shop } = addShop(register);
    const street = shop.address?.street ?? '';
    const house = houseOf(street) + register.random.pick([2, 4, 6]);
    return meaning(shop, {
      name,
      ...typedAddress(register.random, addressIn(register.random, town, street.replace(/\d.*/, `${house}`))),
    });
  },
  'street renamed'(register) {
    const place = commonPlace(register);
    const house = register.random.int(1, 90);
    const [before, today] = register.random.pick(RENAMED);
    const address = addressIn(register.random, place.town, `${today} ${house}`);
    const shop = addTrade(register, place.town, place.name, { address });
    addNamesakes(register, place);
    const typed = addressIn(register.random, place.town, `${before} ${house}`);
    return meaning(shop, { name: place.name, ...typedAddress(register.random, typed) });
  },
  'postal district divided'(register) {
    const [before, today] = register.random.pick(DIVIDED);
    const { name } = commonPlace(register, commonName, [today]);
    // The whole of the old district has no second one.
    for (const [old, part] of DIVIDED) if (old.name === before.name) register.reserve(name, part);
    const shop = addTrade(register, today, name);
    const typed = addressIn(register.random, before, shop.address?.street ?? '');
    return meaning(shop, { name, ...typedAddress(register.random, typed) });
  },
  greenland(register) {
    const place = commonPlace(register, commonName, GREENLAND);
    const address = addressIn(register.random, place.town, streetIn(register.random, GREENLAND_STREETS));
    const shop = addTrade(register, place.town, place.name, {
      address,
      phone: `${register.random.int(310_000, 989_999)}`,
    });
    addNamesakes(register, place);
    const country = register.random.pick(['Grønland', 'Greenland', 'Kalaallit Nunaat', null]);
    return meaning(shop, { name: place.name, ...typedPlace(register, shop), country });
  },
  'faroes/missing'(register) {
    const { name } = missingShop(register);
    const [postalCode, city] = register.random.pick(FAROE).split(' ');
    const street = streetIn(register.random, FAROE_STREETS);
    const phone = `+298 ${register.random.int(210_000, 799_999)}`;
    return meaningNone({ name, street, postalCode, city, country: register.random.pick(['Færøerne', 'FO']), phone });
  },
  'abroad/missing'(register) {
    const { name } = missingShop(register);
    const place = register.random.pick([
      { street: 'Große Straße 14', postalCode: '24937', city: 'Flensburg', country: 'Tyskland' },
      { street: 'Holm 57', postalCode: 'D-24937', city: 'Flensburg', country: 'Germany' },
      { street: 'Södergatan 20', postalCode: '211 34', city: 'Malmö', country: 'Sverige' },
      { street: 'Storgata 8', postalCode: '8006', city: 'Bodø', country: 'Norge' },
      { street: 'Kirkegata 5', postalCode: '4600', city: 'Kristiansand', country: 'NO' },
    ]);
    return meaningNone({ name, ...place });
  },
};

/** A family, a craft, and a town that has no other such firm. */
export function freeCraftsman(register: RegisterDraft) {
  const { random } = register;
  const surname = random.pick(SURNAMES);
  const craft = random.pick(CRAFTS);
  const { town } = commonPlace(register, () => firmOf(surname, craft));
  return { surname, craft, town };
}

export const CRAFT_TRAPS: Readonly<Record<string, Trap>> = {
  'craftsman as people say'(register) {
    const { surname, craft, town } = freeCraftsman(register);
    const firm = addTrade(register, town, firmOf(surname, craft));
    return meaning(firm, { name: `${craft.said} ${surname}`, ...typedPlace(register, firm) });
  },
  'craftsman as people say, by town'(register) {
    const { random } = register;
    const { surname, craft, town } = freeCraftsman(register);
    const name = `${craft.master} ${person(random).split(' ')[0]} ${surname}`;
    const firm = register.add({ name, form: 'Enkeltmandsvirksomhed', address: addressIn(random, town) });
    return meaning(firm, { name: firmOf(surname, craft), ...typedTown(register, town) });
  },
  'another craft of the family/missing'(register) {
    const { surname, craft, town } = freeCraftsman(register);
    const others = CRAFTS.filter((other) => other !== craft);
    for (const other of others.slice(0, 2))
      addTrade(register, town, commonPlace(register, () => firmOf(surname, other), [town]).name);
    return meaningNone({ name: firmOf(surname, craft), ...typedTown(register, town) });
  },
  'person behind the firm'(register) {
    const { random } = register;
    const { surname, craft, town } = freeCraftsman(register);
    const owner = `${person(random).split(' ')[0]} ${surname}`;
    const name = `${craft.master} v/${owner}`;
    const firm = register.add({ name, form: 'Enkeltmandsvirksomhed', address: addressIn(random, town) });
    return meaning(firm, { name: random.pick([owner, `v/ ${owner}`, `v. ${owner}`]), ...typedPlace(register, firm) });
  },
  'two people of one name in town'(register) {
    const { random } = register;
    const { town, name: owner } = commonPlace(register, person);
    const firms = [...CRAFTS].slice(random.int(0, 6)).slice(0, 2);
    const [firm] = firms.map(({ master }) =>
      register.add({ name: `${master} v/${owner}`, form: 'Enkeltmandsvirksomhed', address: addressIn(random, town) }),
    );
    if (firm === undefined) return meaningNone({});
    const said = (firms[0]?.said ?? '').toLowerCase();
    return meaning(firm, {
      name: random.pick([`${owner}, ${said}`, `${owner} (${said})`]),
      ...typedTown(register, town),
    });
  },
};
