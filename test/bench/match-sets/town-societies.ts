/** Funds with numbers and housing associations, as a sales rep types them. */
import type { IndexEntry } from '../../../src/match/describe/entry.ts';
import type { AddressText } from '../../../src/protocol/danish/street-address.ts';
import { addressIn, otherTown, type RegisterDraft, streetIn, typedAddress } from './register-draft.ts';
import { meaning, meaningNone, type Trap, typedPhoneOf, typedPlace, typedTown } from './town-draft.ts';
import { FUNDS, HOUSING, STREETS, TOWNS, type Town } from './town-words.ts';

/** A fund's number that no company bears yet, with the manager that all numbers of the fund share. */
function freeFund(register: RegisterDraft) {
  const { random } = register;
  for (;;) {
    const fund = random.pick(FUNDS);
    const number = random.int(1, 1500);
    if (register.reserve(`${fund} ${number}`)) return { fund, number, manager: managerOf(fund) };
  }
}

function managerOf(fund: string) {
  const at = FUNDS.indexOf(fund);
  const { postalCode, name } = TOWNS[at * 4] ?? TOWNS[0];
  return { address: { street: `Havnegade ${20 + at}`, postalCode, city: name }, phone: `3391${1000 + at * 37}` };
}

/** Adds a fund with the numbers around it. */
export function addFund(register: RegisterDraft, form: 'K/S' | 'P/S' = 'K/S') {
  const { fund, number, manager } = freeFund(register);
  addFundsNear(register, fund, number);
  return { fund, number, entry: register.add({ name: `${form} ${fund} ${number}`, form, ...manager }) };
}

function addFundsNear(register: RegisterDraft, fund: string, number: number): void {
  for (const near of [number - 1, number + 1, number + 10])
    if (register.reserve(`${fund} ${near}`))
      register.add({ name: `K/S ${fund} ${near}`, form: 'K/S', ...managerOf(fund) });
}

const FUND_TRAPS: Readonly<Record<string, Trap>> = {
  'fund with its number'(register) {
    const { entry } = addFund(register);
    return meaning(entry, { name: entry.name, ...typedPlace(register, entry), ...typedPhoneOf(register, entry) });
  },
  'fund spelled otherwise'(register) {
    const { fund, number, entry } = addFund(register);
    const name = register.random.pick([
      `${fund} ${number} K/S`,
      `KS ${fund} ${number}`,
      `${fund}-${number}, K/S`,
      `${fund} nr. ${number}`,
    ]);
    return meaning(entry, { name, ...typedPlace(register, entry) });
  },
  'fund of another number/missing'(register) {
    const { fund, number, manager } = freeFund(register);
    addFundsNear(register, fund, number);
    return meaningNone({ name: `K/S ${fund} ${number}`, ...typedAddress(register.random, manager.address) });
  },
  'fund without its number/undecidable'(register) {
    const { fund, entry } = addFund(register);
    return meaningNone({ name: `K/S ${fund}`, ...typedPlace(register, entry), ...typedPhoneOf(register, entry) });
  },
  'fund of two forms'(register) {
    const { fund, number, manager } = freeFund(register);
    const [one] = register.random
      .pick([['K/S', 'P/S'] as const, ['P/S', 'K/S'] as const])
      .map((form) => register.add({ name: `${form} ${fund} ${number}`, form, ...manager }));
    return one === undefined ? meaningNone({}) : meaning(one, { name: one.name, ...typedPlace(register, one) });
  },
  'general partner of a fund'(register) {
    const { fund, number, entry } = addFund(register, register.random.pick(['K/S', 'P/S']));
    const partner = { name: `Komplementarselskabet ${fund} ${number} ApS`, form: 'ApS', address: entry.address };
    const meant = register.add({ ...partner, phone: entry.phone });
    const name = register.random.pick([
      partner.name,
      `Komplementarselskabet ${fund} ${number}`,
      `Kompl.selsk. ${fund} ${number} ApS`,
    ]);
    return meaning(meant, { name, ...typedPlace(register, meant) });
  },
};

/** A housing association's name that is free in a town. */
function freeHousing(register: RegisterDraft, towns: readonly [Town, ...Town[]] = TOWNS) {
  const { random } = register;
  for (;;) {
    const town = random.pick(towns);
    const house = random.chance(0.5) ? random.pick(HOUSING) : `${random.pick(STREETS)} ${random.int(2, 90)}`;
    if (register.reserve(`housing ${house}`, town)) return { town, house };
  }
}

/** The house itself if it is named by its street. */
const houseAt = ({ random }: RegisterDraft, house: string, town: Town): AddressText =>
  addressIn(random, town, /\d$/.test(house) ? house : streetIn(random));

function addHousing(register: RegisterDraft, house: string, address: AddressText): IndexEntry {
  const { random } = register;
  const name = random.pick([`Andelsboligforeningen ${house}`, `A/B ${house}`, `Andelsboligforeningen "${house}"`]);
  return register.add({ name, form: 'Andelsforening', address });
}

const saidHousing = ({ random }: RegisterDraft, house: string): string =>
  random.pick([`A/B ${house}`, `AB ${house}`, `Andelsboligforeningen ${house}`, `Andelsforeningen ${house}`]);

export function addHousingIn(register: RegisterDraft) {
  const { town, house } = freeHousing(register);
  const entry = addHousing(register, house, houseAt(register, house, town));
  const elsewhere = otherTown(register.random, town);
  if (register.reserve(`housing ${house}`, elsewhere)) addHousing(register, house, houseAt(register, house, elsewhere));
  return { town, house, entry };
}

interface Manager {
  readonly name: string;
  readonly street: string;
  readonly postalCode: string;
}
const MANAGERS: readonly [Manager, ...Manager[]] = [
  { name: 'Vestjysk Boligadministration', street: 'Torvegade 3', postalCode: '6900' },
  { name: 'Ejendomskontoret Fyn', street: 'Algade 88', postalCode: '5600' },
  { name: 'Advokaterne Gl. Torv', street: 'Kirkestræde 1', postalCode: '4200' },
];

const HOUSING_TRAPS: Readonly<Record<string, Trap>> = {
  'housing association of its town'(register) {
    const { town, house, entry } = addHousingIn(register);
    return meaning(entry, { name: saidHousing(register, house), ...typedTown(register, town) });
  },
  'housing association at its manager'(register) {
    const { name, street, postalCode } = register.random.pick(MANAGERS);
    const town = TOWNS.find((each) => each.postalCode === postalCode) ?? TOWNS[0];
    const address = addressIn(register.random, town, street);
    const { house } = freeHousing(register, [town]);
    const entry = addHousing(register, house, address);
    for (let other = 0; other < 2; other++) addHousing(register, freeHousing(register, [town]).house, address);
    const typed = register.random.pick([`c/o ${name}, ${street}`, street, `${name}, ${street}`]);
    return meaning(entry, { name: saidHousing(register, house), ...address, street: typed });
  },
  'housing association of another town/missing'(register) {
    const { town, house } = freeHousing(register);
    const elsewhere = otherTown(register.random, town);
    if (register.reserve(`housing ${house}`, elsewhere))
      addHousing(register, house, houseAt(register, house, elsewhere));
    return meaningNone({ name: saidHousing(register, house), ...typedTown(register, town) });
  },
  'owners and tenants of one house'(register) {
    const { town, house, entry } = addHousingIn(register);
    const address = houseAt(register, house, town);
    const owners = register.add({ name: `Ejerforeningen ${house}`, form: 'Forening', address });
    const isOwners = register.random.chance(0.5);
    const name = isOwners ? register.random.pick([`E/F ${house}`, owners.name]) : saidHousing(register, house);
    return meaning(isOwners ? owners : entry, { name, ...typedTown(register, town) });
  },
};

export const SOCIETY_TRAPS = { ...FUND_TRAPS, ...HOUSING_TRAPS };
