/**
 * The traps of company names in every combination: which of two companies the index holds, and whose address, phone and
 * domain the record has. The label is the company that a sales rep means, by a rule for each kind of pair.
 */
import type { RecordText } from '../../../src/match/describe/described.ts';
import type { IndexEntry } from '../../../src/match/describe/entry.ts';
import type { AddressText } from '../../../src/protocol/danish/street-address.ts';
import type { Random } from '../../../src/protocol/sample/random.ts';
import {
  ADDRESSES,
  type Cast,
  DOMAINS,
  IN_INDEX,
  PAIRS,
  type PairKind,
  type Part,
  PHONES,
  type Role,
  type Signs,
  stemOf,
} from './grid-pairs.ts';
import {
  addressIn,
  domainOf,
  FORMS,
  newRegister,
  otherTown,
  type RegisterDraft,
  typedAddress,
  typedDomain,
  typedPhone,
} from './register-draft.ts';
import type { LabelledSet, SetRecord } from './set.ts';
import { MEN, SURNAMES, TOWNS, WOMEN } from './town-words.ts';

interface Cell {
  readonly trap: string;
  readonly pair: PairKind;
  readonly signs: Signs;
  readonly label: Role | null;
}

const isPresent = (role: Role, { inIndex }: Signs): boolean => inIndex !== `${role}-missing`;

function cellOf(pair: PairKind, signs: Signs): Cell | undefined {
  const intent = pair.intent(signs);
  if (intent === undefined) return undefined;
  if (intent === 'undecidable') return { trap: `${pair.name}/undecidable`, pair, signs, label: null };
  if (!isPresent(intent, signs)) return { trap: `${pair.name}/meant-missing`, pair, signs, label: null };
  const place = intent === 'rival' ? 'signs-of-rival' : signs.address;
  return { trap: `${pair.name}/${signs.inIndex === 'both' ? place : 'rival-missing'}`, pair, signs, label: intent };
}

/** All combinations that make sense, by trap. */
function gridOf(): ReadonlyMap<string, readonly Cell[]> {
  const places = IN_INDEX.flatMap((inIndex) => ADDRESSES.map((address) => ({ inIndex, address })));
  const contacts = PHONES.flatMap((phone) => DOMAINS.map((domain) => ({ phone, domain })));
  const signs = places.flatMap((place) => contacts.map((contact): Signs => ({ ...place, ...contact })));
  const cells = PAIRS.flatMap((pair) => signs.map((each) => cellOf(pair, each))).filter((cell) => cell !== undefined);
  return Map.groupBy(cells, ({ trap }) => trap);
}

interface Places {
  readonly meant: AddressText;
  readonly rival: AddressText;
  /** The address on the record. */
  readonly typed: AddressText | null;
}

function placesOf({ random }: RegisterDraft, { address }: Signs, { unitsIn }: Cast): Places {
  const town = unitsIn?.[0] ?? random.pick(TOWNS);
  const rivalTown = unitsIn?.[1] ?? (random.chance(0.5) ? town : otherTown(random, town));
  const meant = addressIn(random, town);
  const rival = address === 'one-address' ? meant : addressIn(random, rivalTown);
  const isNear = unitsIn !== undefined || random.chance(0.7);
  const other = addressIn(random, isNear ? town : otherTown(random, town, rivalTown));
  const typed = { 'one-address': meant, 'own-address': meant, 'rival-address': rival, 'other-address': other };
  return { meant, rival, typed: address === 'no-address' ? null : typed[address] };
}

const bareName = (name: string): string => name.replace(/ (?:ApS|A\/S|I\/S)$/, '');

/** A name as a sales rep types it: with its form as a rule. */
function typedName(random: Random, name: string): string {
  const bare = bareName(name);
  return random.pick([name, name, name, name, name, bare, bare, name.toUpperCase(), bare.toLowerCase()]);
}

interface Contacts {
  readonly phones: Readonly<Record<Signs['phone'], string>>;
  readonly domains: Readonly<Record<Signs['domain'], string>>;
}

function contactsOf(register: RegisterDraft, { meant, unitsIn, groupDomain }: Cast): Contacts {
  const { random } = register;
  return {
    phones: { right: register.phone(), rival: register.phone(), stale: register.phone(), none: '' },
    domains: {
      right: domainOf(unitsIn === undefined ? bareName(meant.name) : stemOf(register)),
      shared: groupDomain ?? domainOf(`${random.pick(SURNAMES)}gruppen${random.int(10, 9999)}`),
      none: '',
    },
  };
}

/** Phone and website of a company: those that the record has, and some that it lacks. */
function listed(
  { random }: RegisterDraft,
  role: Role,
  signs: Signs,
  { phones, domains }: Contacts,
): Partial<IndexEntry> {
  const ownPhone = role === 'meant' ? 'right' : 'rival';
  const phone = signs.phone === ownPhone || random.chance(0.5) ? phones[ownPhone] : null;
  if (signs.domain === 'shared') return { phone, website: domains.shared };
  const hasSite = role === 'meant' && (signs.domain === 'right' || random.chance(0.3));
  return { phone, website: hasSite ? domains.right : null };
}

function entered(register: RegisterDraft, part: Part, isUnit: boolean): IndexEntry {
  if (!isUnit) return register.add(part);
  const owner = register.add({ name: `${stemOf(register)} ApS`, form: 'ApS', address: part.address ?? null });
  return register.addUnit(owner.company, part);
}

/** Adds to the register the companies of the pair that it holds. */
function addPair(register: RegisterDraft, signs: Signs, cast: Cast, places: Places & Contacts) {
  const { random } = register;
  const former = [{ value: places.rival, until: `${random.int(2012, 2024)}-0${random.int(1, 9)}-01` }];
  const add = (role: Role, extra: Partial<IndexEntry>): IndexEntry | undefined => {
    if (!isPresent(role, signs)) return undefined;
    const moved = cast.hasMoved === true && role === 'meant' ? { formerAddresses: former } : {};
    const contact = { address: places[role], ...listed(register, role, signs, places) };
    return entered(register, { ...contact, ...cast[role], ...moved, ...extra }, cast.unitsIn !== undefined);
  };
  const first = cast.successor ?? 'meant';
  const heir = add(first, {});
  const ended = { ended: `${random.int(2015, 2024)}-1${random.int(0, 2)}-15`, successor: heir?.number ?? '10000009' };
  const second = add(first === 'meant' ? 'rival' : 'meant', cast.successor === undefined ? {} : ended);
  return first === 'meant' ? { meant: heir, rival: second } : { meant: second, rival: heir };
}

function recordOf(register: RegisterDraft, { trap, pair, signs, label }: Cell): SetRecord {
  const { random } = register;
  const cast = pair.cast(register);
  const places = { ...placesOf(register, signs, cast), ...contactsOf(register, cast) };
  const entry = label === null ? undefined : addPair(register, signs, cast, places)[label];
  if (label === null) addPair(register, signs, cast, places);
  const record: RecordText = {
    name: typedName(random, cast.written),
    ...(places.typed === null ? {} : typedAddress(random, places.typed)),
    ...(signs.phone === 'none' ? {} : { phone: typedPhone(random, places.phones[signs.phone]) }),
    ...(signs.domain === 'none' ? {} : typedDomain(random, places.domains[signs.domain])),
  };
  return { trap, record, company: entry?.company ?? null, hasEnded: typeof entry?.ended === 'string' };
}

/** Adds companies that no record means: other businesses, their sisters, people. */
function addBystander(register: RegisterDraft): void {
  const { random } = register;
  const form = random.pick(FORMS);
  const person = `${random.pick(random.chance(0.5) ? WOMEN : MEN)} ${random.pick(SURNAMES)}`;
  const stem = stemOf(register);
  const name = form === 'Enkeltmandsvirksomhed' ? `${stem} v/${person}` : `${stem} ${form}`;
  const address = addressIn(random, random.pick(TOWNS));
  const phone = random.chance(0.6) ? register.phone() : null;
  register.add({ name, form, address, phone, website: random.chance(0.3) ? domainOf(stem) : null });
  if (form !== 'ApS' || random.chance(0.7)) return;
  const sister = `${stem} ${random.pick(['Holding', 'Ejendomme', 'Invest'])} ApS`;
  register.add({ name: sister, form, address, phone: random.chance(0.3) ? phone : null });
}

function shuffled<T>(random: Random, list: readonly T[]): readonly T[] {
  return list
    .map((item) => ({ item, at: random.int(0, 1_000_000_000) }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** Each trap equally often, and the combinations of a trap in turn. */
export function trapGrid(seed: number, records: number): LabelledSet {
  const register = newRegister(seed);
  const grid = [...gridOf().values()].map((cells) => shuffled(register.random, cells));
  const made = Array.from({ length: records }, (_, index) => {
    const cells = grid[index % grid.length] ?? [];
    const cell = cells[Math.floor(index / grid.length) % cells.length];
    return cell === undefined ? [] : [recordOf(register, cell)];
  });
  while (register.size() < records * 4) addBystander(register);
  return { name: 'trap grid', entries: register.entries(), records: made.flat() };
}
