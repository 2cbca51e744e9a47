/**
 * Labelled CRM records of a labelled register: what a sales rep typed of a company, and the company that was meant.
 *
 * Every record leaves out parts by chance: the street in 25 of a hundred, the postal code and the city in 12, the phone and
 * the website in 45, the e-mail in 40, the country in 50. Phones are spelled in five ways. A trap changes one thing more.
 */
import type { RecordText } from '../../src/match/describe/described.ts';
import type { IndexEntry } from '../../src/match/describe/entry.ts';
import { type Random, randomFrom } from '../../src/protocol/sample/random.ts';
import { addressOf, type LabelledCompany, type LabelledRegister, stem } from './register.ts';
import * as words from './words.ts';

/** What makes a record hard. */
export const TRAPS = [
  'plain',
  'form-left-out',
  'form-spelled-otherwise',
  'and-for-ampersand',
  'letters-without-danish',
  'ruined-letters',
  'abbreviation',
  'denmark-added',
  'slip-of-a-letter',
  'capitals',
  'swapped',
  'cut',
  'addition',
  'town-added',
  'lost-letters',
  'group',
  'franchise',
  'chain',
  'office-hotel',
  'accountants-phone',
  'freemail',
  'moved',
  'former-name',
  'former-name-reused',
  'former-name-taken',
  'near-sister',
  'near-sister-missing',
  'owner-left-out',
  'two-letters',
  'unit-number',
  'trade-name',
  'care-of',
  'ended',
  'name-only',
  'outdated',
  'namesake',
  'stranger',
  'foreign',
  'person',
] as const;
export type Trap = (typeof TRAPS)[number];

export interface LabelledRecord {
  readonly trap: Trap;
  readonly record: RecordText;
  /** The CVR number that was meant; null where no company of the register was. */
  readonly company: string | null;
  /** The meant company has ended. */
  readonly hasEnded: boolean;
}

/** Records for a register; every trap has the same number of tries. */
export function labelledRecords(seed: number, register: LabelledRegister, count: number): readonly LabelledRecord[] {
  const random = randomFrom(seed);
  const made: LabelledRecord[] = [];
  for (let round = 0; made.length < count; round += 1) {
    const record = tryTrap(random, TRAPS[round % TRAPS.length] ?? 'plain', register);
    if (record !== undefined) made.push(record);
  }
  return made;
}

/** Undefined where no company of the register is found that the trap can be made of. */
function tryTrap(random: Random, trap: Trap, { companies }: LabelledRegister): LabelledRecord | undefined {
  for (let tries = 0; tries < 3_000; tries += 1) {
    const one = companies[random.int(0, companies.length - 1)];
    const record = one === undefined ? undefined : recordOf(random, trap, one);
    if (record !== undefined) return record;
  }
  return undefined;
}

/**
 * Whom a sales rep means, where it is not the company that the record's address is of. The business that has a name today,
 * where it is handed on with the address; a name that a stranger elsewhere took is still that of the record's phone.
 */
const MEANT: Readonly<Partial<Record<Trap, (one: LabelledCompany) => string | null>>> = {
  'former-name-taken': ({ reusedBy }) => reusedBy,
  'near-sister-missing': () => null,
  namesake: () => null,
};

const NOBODYS: readonly Trap[] = ['stranger', 'foreign', 'person'];

/** Undefined where the trap cannot be made of this company. */
function recordOf(random: Random, trap: Trap, one: LabelledCompany): LabelledRecord | undefined {
  if (NOBODYS.includes(trap)) return { trap, record: nobody(random, trap), company: null, hasEnded: false };
  if (trap !== 'ended' && one.main.ended !== null) return undefined;
  const change = CHANGES[trap]?.(one, random);
  if (change === undefined) return undefined;
  const plain = typed(random, one.main);
  const { number, ended } = one.main;
  return {
    trap,
    record: { ...plain, ...change },
    company: (MEANT[trap] ?? (() => number))(one),
    hasEnded: ended !== null,
  };
}

const some = <T>(random: Random, percent: number, value: T): T | null => (random.chance(percent / 100) ? value : null);

function typed(random: Random, { name, address, phone, website, email }: IndexEntry): RecordText {
  return {
    name,
    street: some(random, 75, address?.street ?? null),
    postalCode: some(random, 88, address?.postalCode ?? null),
    city: some(random, 88, address?.city ?? null),
    country: some(random, 50, random.pick(['Danmark', 'Denmark', 'DK'])),
    phone: phone === null ? null : some(random, 55, spelledPhone(random, phone)),
    website: some(random, 55, website),
    email: some(random, 60, email),
  };
}

function spelledPhone(random: Random, phone: string): string {
  const pairs = phone.replace(/(..)(..)(..)(..)/u, '$1 $2 $3 $4');
  return random.pick([phone, pairs, `+45 ${pairs}`, `0045${phone}`, `+45${phone}`]);
}

type Change = (one: LabelledCompany, random: Random) => RecordText | undefined;

const FORM = / (?:ApS|[AIKP]\/S|IVS|A\.M\.B\.A\.)$/u;
const when = (condition: boolean, change: RecordText): RecordText | undefined => (condition ? change : undefined);
const renamed = (name: string, to: string): RecordText | undefined => when(name !== to, { name: to });

const CHANGES: Readonly<Partial<Record<Trap, Change>>> = {
  plain: () => ({}),
  'form-left-out': ({ main }) => renamed(main.name, main.name.replace(FORM, '')),
  'form-spelled-otherwise': ({ main }, random) =>
    renamed(
      main.name,
      main.name
        .replace(/ ApS$/u, random.pick([' Aps', ' APS', ' Ap.S.', ', ApS', ' anpartsselskab']))
        .replace(/ A\/S$/u, random.pick([' A.S.', ' AS', ' a/s', ' A / S', ' Aktieselskab']))
        .replace(/ ([IKP])\/S$/u, ' $1.S.')
        .replace(' A.M.B.A.', random.pick([' AMBA', ' a.m.b.a'])),
    ),
  'and-for-ampersand': ({ main }, random) =>
    main.name.includes(' & ')
      ? renamed(main.name, main.name.replace(' & ', random.pick([' og ', ' + ', ' and ', '&'])))
      : renamed(main.name, main.name.replace(' og ', ' & ')),
  'letters-without-danish': ({ main }, random) => renamed(main.name, withoutDanish(random, main.name)),
  'ruined-letters': ({ main, main: { address } }, random) =>
    renamed(main.name, ruined(random, main.name)) && {
      name: ruined(random, main.name),
      street: some(random, 75, ruined(random, address?.street ?? '')),
    },
  abbreviation: ({ main }) =>
    renamed(
      main.name,
      main.name
        .replace('Sønder ', 'Sdr. ')
        .replace('Nørre ', 'Nr. ')
        .replace('Gammel ', 'Gl. ')
        .replace('Vester ', 'V. '),
    ),
  'denmark-added': ({ main, kind }) =>
    when(kind === 'plain' && !/Danmark/u.test(main.name), { name: `${main.name.replace(FORM, '')} Denmark` }),
  'slip-of-a-letter': ({ main }, random) => when(main.name.length > 12, { name: slipped(random, main.name) }),
  capitals: ({ main }, random) => ({ name: random.chance(0.5) ? main.name.toUpperCase() : main.name.toLowerCase() }),
  swapped: ({ main }) => {
    const [first = '', ...rest] = main.name.replace(FORM, '').split(' ');
    return when(rest.length > 0 && !main.name.includes(' v/'), { name: [...rest, first].join(' ') });
  },
  // Of a group the cut name may be that of a sister, whole.
  cut: ({ main, kind }) => when(kind !== 'group' && main.name.length > 30, { name: main.name.slice(0, 30) }),
  addition: ({ main, kind }, random) =>
    when(kind !== 'owner', {
      name: `${main.name}${random.pick([' - Salg', ', afd. 2100', ' (kunde 1123)', ' | siden 1952', ' – att. bogholderi'])}`,
    }),
  'town-added': ({ main, kind }) =>
    when(kind !== 'owner', { name: `${main.name.replace(FORM, '')} ${main.address?.city ?? ''}` }),
  'lost-letters': ({ main }, random) =>
    renamed(main.name, main.name.replaceAll(/[æøåÆØÅ](?=\p{L})/gu, random.pick(['?', '\ufffd']))),
  group: ({ kind, main }) => when(kind === 'group', { name: main.name }),
  franchise: ({ kind, main }) => when(kind === 'franchise', { street: main.address?.street ?? null, name: main.name }),
  chain: ({ kind, units }, random) => {
    const shop = units[random.int(1, units.length - 1)];
    if (kind !== 'chain' || shop?.address == null) return undefined;
    const { street = null, postalCode = null, city = null } = shop.address;
    return { name: shop.name, street, postalCode, city, phone: some(random, 50, shop.phone) };
  },
  'office-hotel': ({ isCrowded, main }) => when(isCrowded, { street: main.address?.street ?? null }),
  'accountants-phone': ({ hasAccountantsPhone, main }) => when(hasAccountantsPhone, { phone: main.phone }),
  freemail: ({ main }, random) => ({
    website: null,
    email: `${main.name
      .slice(0, 4)
      .toLowerCase()
      .replaceAll(/[^a-z]/gu, '')}x@${random.pick(words.FREEMAIL)}`,
  }),
  moved: ({ main }) => {
    const [former] = main.formerAddresses;
    return (
      former && {
        street: former.value.street ?? null,
        postalCode: former.value.postalCode ?? null,
        city: former.value.city ?? null,
      }
    );
  },
  'former-name': ({ main, reusedBy }) => (reusedBy === null ? formerName(main) : undefined),
  'former-name-reused': ({ kind, main, reusedBy }) =>
    reusedBy === null || kind === 'spun-off' ? undefined : formerName(main),
  'former-name-taken': ({ kind, main, reusedBy }) =>
    kind === 'spun-off' && reusedBy !== null ? { ...formerName(main), phone: main.phone } : undefined,
  'near-sister': ({ main, sister }) => when(sister?.isMissing === false, { ...main.address }),
  'near-sister-missing': ({ main: { address, phone }, sister }) =>
    when(sister?.isMissing === true, { name: sister?.name ?? '', ...address, phone }),
  'owner-left-out': ({ kind, main }) => when(kind === 'owner', { name: main.name.replace(/ v\/.*$/u, '') }),
  'two-letters': ({ kind }) => when(kind === 'two-letters', {}),
  'unit-number': ({ units }) => when(units.length > 0, { number: units[0]?.number ?? null }),
  'trade-name': ({ main }) => when(main.otherNames.length > 0, { name: main.otherNames[0] ?? null }),
  'care-of': ({ main }, random) => ({
    street: `c/o ${random.pick(words.GIVEN_NAMES)} ${random.pick(words.SURNAMES)}, ${main.address?.street ?? ''}`,
  }),
  ended: ({ main }) => when(main.ended !== null && main.successor === null, {}),
  outdated: ({ main }, random) => otherwise(random, main),
  namesake: ({ main }, random) => {
    const change = otherwise(random, main);
    return change && { ...change, ...namesakesPlace(random) };
  },
  'name-only': () => ({ street: null, postalCode: null, city: null, phone: null, website: null, email: null }),
};

/** The name with another phone and site. */
function otherwise(random: Random, { phone, website }: IndexEntry): RecordText | undefined {
  const domain =
    `${random.pick(words.BEGINNINGS)}${random.pick(words.ENDINGS)}${random.int(100, 999)}.dk`.toLowerCase();
  const other = spelledPhone(random, String(random.int(20_000_000, 98_999_999)));
  return when(phone !== null && website !== null, { phone: other, website: domain, email: null });
}

function namesakesPlace(random: Random): RecordText {
  const { street = null, postalCode = null, city = null } = addressOf(random);
  const share = random.int(1, 4);
  if (share === 1) return { street };
  return share === 2 ? { street: null, postalCode: null, city: null } : { street, postalCode, city };
}

const formerName = ({ formerNames: [former] }: IndexEntry): RecordText | undefined => former && { name: former.value };

const ASCII: readonly Readonly<Record<string, string>>[] = [
  { æ: 'ae', ø: 'oe', å: 'aa', Æ: 'Ae', Ø: 'Oe', Å: 'Aa' },
  { æ: 'ae', ø: 'o', å: 'a', Æ: 'Ae', Ø: 'O', Å: 'A' },
  { æ: 'a', ø: 'o', å: 'aa', Æ: 'A', Ø: 'O', Å: 'Aa' },
];

function withoutDanish(random: Random, name: string): string {
  const letters = ASCII[random.int(0, ASCII.length - 1)] ?? {};
  return name.replaceAll(/[æøåÆØÅ]/gu, (letter) => letters[letter] ?? letter);
}

/** As a program writes UTF-8 that it takes for Windows' code page, or that code page where UTF-8 is meant. */
function ruined(random: Random, text: string): string {
  if (random.chance(0.25)) return text.replaceAll(/[æøåÆØÅé]/gu, '\ufffd');
  return new TextDecoder('windows-1252').decode(new TextEncoder().encode(text));
}

function slipped(random: Random, name: string): string {
  const at = random.int(1, 8);
  const letter = random.pick(['a', 'e', 'i', 'n', 'r', 's', 't']);
  return random.pick([
    name.slice(0, at) + name.slice(at + 1),
    name.slice(0, at) + letter + name.slice(at),
    name.slice(0, at) + letter + name.slice(at + 1),
    name.slice(0, at) + name.charAt(at + 1) + name.charAt(at) + name.slice(at + 2),
  ]);
}

function nobody(random: Random, trap: Trap): RecordText {
  const { street = null, postalCode = null, city = null } = addressOf(random);
  const phone = spelledPhone(random, String(random.int(20_000_000, 98_999_999)));
  if (trap === 'person') {
    const name = `${random.pick(words.GIVEN_NAMES)} ${random.pick(words.SURNAMES)}`;
    return { name, street, postalCode, city, phone, email: `x@${random.pick(words.FREEMAIL)}` };
  }
  const name = `${stem(random)} ${random.pick(['Partner', 'Gruppen', 'Center', 'Nord'])}`;
  if (trap === 'stranger') return { name, street, postalCode, city, phone };
  return {
    name: `${name} ${random.pick(['GmbH', 'Ltd', 'AB'])}`,
    street: 'Hauptstrasse 12',
    postalCode: '20095',
    city: 'Hamburg',
    country: random.pick(['Germany', 'Tyskland', 'Sweden']),
    phone: `+49 40 ${random.int(1_000_000, 9_999_999)}`,
  };
}
