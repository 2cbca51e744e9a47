/** Small trades of single towns: adds them to a register, and labels records of them. */
import type { RecordText } from '../../../src/match/describe/described.ts';
import type { IndexEntry } from '../../../src/match/describe/entry.ts';
import type { Random } from '../../../src/protocol/sample/random.ts';
import { addressIn, genitive, type RegisterDraft, typedAddress, typedPhone } from './register-draft.ts';
import type { SetRecord } from './set.ts';
import { CRAFTS, type Craft, MEN, SHOPS, STREETS, SURNAMES, TOWNS, type Town, WOMEN } from './town-words.ts';

/** Makes the companies of a trap and a record of one of them. */
export type Trap = (register: RegisterDraft) => Omit<SetRecord, 'trap'>;

export const meaning = (entry: IndexEntry, record: RecordText): Omit<SetRecord, 'trap'> => ({
  record,
  company: entry.company,
  hasEnded: entry.ended !== null,
});

/** A record whose company is not in the index, or that says too little. */
export const meaningNone = (record: RecordText): Omit<SetRecord, 'trap'> => ({
  record,
  company: null,
  hasEnded: false,
});

/** Adds a trade of a town, some with the name of the owner behind it. */
export function addTrade(
  register: RegisterDraft,
  town: Town,
  name: string,
  extra: Partial<IndexEntry> = {},
): IndexEntry {
  const { random } = register;
  const full = random.chance(0.3) ? `${name} v/${person(random)}` : name;
  const phone = random.chance(0.6) ? register.phone() : null;
  const address = addressIn(random, town);
  return register.add({ name: full, form: 'Enkeltmandsvirksomhed', address, phone, ...extra });
}

export const typedPlace = ({ random }: RegisterDraft, { address }: IndexEntry): RecordText =>
  typedAddress(random, address ?? {});

/** Town and postal code, or the town alone. */
export const typedTown = ({ random }: RegisterDraft, { postalCode, name }: Town): RecordText =>
  random.pick<RecordText>([{ postalCode, city: name }, { city: name }, { city: `${postalCode} ${name}` }]);

export const typedPhoneOf = ({ random }: RegisterDraft, { phone }: IndexEntry): RecordText => ({
  phone: typedPhone(random, phone ?? ''),
});

export const person = (random: Random): string =>
  `${random.pick(random.chance(0.5) ? WOMEN : MEN)} ${random.pick(SURNAMES)}`;

export const firmOf = (surname: string, { firm }: Craft): string => `${genitive(surname)} ${firm}`;

/** A name that many towns have. */
export function commonName(random: Random): string {
  const craft = random.pick(CRAFTS);
  return random.pick([
    random.pick(SHOPS),
    random.pick(SHOPS),
    `Salon ${random.pick(WOMEN)}`,
    `Frisør ${random.pick(WOMEN)}`,
    firmOf(random.pick(SURNAMES), craft),
    `${random.pick(WOMEN)}s Blomster`,
    `${craft.said} ${random.pick(SURNAMES)}`,
  ]);
}

/** One key for the names that people mix up: a town has one of them. */
function keyOf(name: string): string {
  const craft = CRAFTS.find(({ firm }) => name.endsWith(` ${firm}`));
  if (craft !== undefined)
    return `${craft.said} ${name.slice(0, -craft.firm.length - 1).replace(/(?:(?<=s)'|s)$/, '')}`;
  return name.replace(/^Frisør /, 'Salon ');
}

export interface Place {
  readonly name: string;
  readonly town: Town;
}

/** A common name, with a town that has no such trade yet. */
export function commonPlace(
  register: RegisterDraft,
  make = commonName,
  towns: readonly [Town, ...Town[]] = TOWNS,
): Place {
  const { random } = register;
  for (let tries = 0; ; tries++) {
    const name = make(random);
    // Where the towns are full, a shop is called by its street too.
    const place = { name: tries < 40 ? name : `${name} ${random.pick(STREETS)}`, town: random.pick(towns) };
    if (register.reserve(keyOf(place.name), place.town)) return place;
  }
}

/** Adds two namesakes in other towns. */
export function addNamesakes(register: RegisterDraft, { name, town }: Place): void {
  const make = () => name;
  for (const each of [commonPlace(register, make), commonPlace(register, make)])
    if (each.town !== town) addTrade(register, each.town, name);
}
