/** Pairs of companies that a match confuses, and which of them a sales rep means by a record, from the signs on it. */
import type { IndexEntry } from '../../../src/match/describe/entry.ts';
import type { Random } from '../../../src/protocol/sample/random.ts';
import { domainOf, genitive, type RegisterDraft } from './register-draft.ts';
import {
  BUSINESS,
  CHAINS,
  MEN,
  NEAR_GIVEN,
  NEAR_SURNAME,
  NEAR_TRADE,
  REGIONS,
  STEM_BACKS,
  STEM_FRONTS,
  SURNAMES,
  TOWNS,
  type Town,
  WOMEN,
} from './town-words.ts';

export const IN_INDEX = ['both', 'rival-missing', 'meant-missing'] as const;
export const ADDRESSES = ['one-address', 'own-address', 'rival-address', 'other-address', 'no-address'] as const;
export const PHONES = ['right', 'rival', 'none', 'stale'] as const;
export const DOMAINS = ['right', 'shared', 'none'] as const;

/** "Meant" is the company that bears the record's name, "rival" the one that it is taken for. */
export type Role = 'meant' | 'rival';

/** Which of the pair the index holds, and whose signs the record has. */
export interface Signs {
  readonly inIndex: (typeof IN_INDEX)[number];
  readonly address: (typeof ADDRESSES)[number];
  readonly phone: (typeof PHONES)[number];
  readonly domain: (typeof DOMAINS)[number];
}

/** A company of a pair before its address, phone and domain are known. */
export type Part = Partial<IndexEntry> & Pick<IndexEntry, 'name'>;

export interface Cast {
  /** The name on the record. */
  readonly written: string;
  readonly meant: Part;
  readonly rival: Part;
  /** Makes both production units of other companies, in these towns. */
  readonly unitsIn?: readonly [Town, Town];
  readonly groupDomain?: string;
  /** The meant company's former address is the rival's today. */
  readonly hasMoved?: boolean;
  /** The one that took the other over, which has ended. */
  readonly successor?: Role;
}

/** The one that a person means; undefined if such signs make no sense, or lead anybody astray. */
type Intent = Role | 'undecidable' | undefined;

export interface PairKind {
  readonly name: string;
  cast(register: RegisterDraft): Cast;
  intent(signs: Signs): Intent;
}

/** Signs that are the meant company's alone. */
const own = ({ address, phone, domain }: Signs): number =>
  Number(address === 'own-address') + Number(phone === 'right') + Number(domain === 'right');
/** Signs that are the rival's alone. */
const foreign = ({ address, phone }: Signs): number => Number(address === 'rival-address') + Number(phone === 'rival');

const SISTERS = ['Holding', 'Ejendomme', 'Invest'] as const;

function someStem(random: Random): string {
  const word = `${random.pick(STEM_FRONTS)}${random.pick(STEM_BACKS)}`;
  const business = random.pick(BUSINESS);
  if (random.chance(0.1)) return `${random.pick(STEM_FRONTS)}${business.toLowerCase()}`;
  return random.chance(0.6) ? `${word} ${business}` : `${random.pick(SURNAMES)} & ${random.pick(SURNAMES)} ${business}`;
}

/** A business's name without its form, that no other company of the register has. */
export function stemOf(register: RegisterDraft): string {
  const stem = someStem(register.random);
  return register.reserve(stem) ? stem : stemOf(register);
}

const company = (stem: string, extra: Partial<IndexEntry> = {}): Part => ({
  name: `${stem} ApS`,
  form: 'ApS',
  ...extra,
});
const formerly = (stem: string, until: number) => ({
  formerNames: [{ value: `${stem} ApS`, until: `${until}-06-01` }],
});
const named = (meant: Part, rival: Part): Cast => ({ written: meant.name, meant, rival });

/** Two names that differ in one word, by a pair of words and what stands around it. */
function nearNames(register: RegisterDraft, make: (random: Random) => readonly [string, string]): Cast {
  const [one, other] = make(register.random);
  if (!register.reserve(`near ${one}`) || !register.reserve(`near ${other}`)) return nearNames(register, make);
  return register.random.chance(0.5) ? named(company(one), company(other)) : named(company(other), company(one));
}

/** The name decides unless more speaks for the rival than for the bearer of the name. */
function nearIntent(signs: Signs): Intent {
  const { inIndex, address, phone } = signs;
  const isForeign = foreign(signs) > own(signs);
  if (inIndex === 'rival-missing') return isForeign && foreign(signs) === 2 ? undefined : 'meant';
  // Without the bearer in the index, the rival misspelled is as likely.
  if (inIndex === 'meant-missing') return isForeign ? 'undecidable' : 'meant';
  return isForeign && !(address === 'one-address' && phone === 'rival') ? 'undecidable' : 'meant';
}

function chainCast(register: RegisterDraft): Cast {
  const { random } = register;
  const chain = random.chance(0.4)
    ? random.pick(CHAINS)
    : `${random.pick(STEM_FRONTS)}${random.pick(['bageren', 'grillen'])}`;
  const [here, there] = [random.pick(TOWNS), random.pick(TOWNS)];
  if (here === there || !register.reserve(chain, here) || !register.reserve(chain, there)) return chainCast(register);
  const groupDomain = domainOf(chain);
  if (register.reserve(`${chain} Danmark`)) {
    const head = { name: `${chain} Danmark A/S`, form: 'A/S', phone: register.phone(), website: groupDomain };
    register.add({ ...head, address: { street: 'Vesterbrogade 149', postalCode: '1620', city: 'København V' } });
  }
  return { ...named({ name: chain }, { name: chain }), unitsIn: [here, there], groupDomain };
}

/** The place names the unit, else its phone or site. */
function chainIntent(signs: Signs): Intent {
  const { inIndex, address, phone, domain } = signs;
  const isMeant = phone === 'right' || domain === 'right';
  if (address === 'one-address') return undefined;
  if (address === 'rival-address') return isMeant ? 'undecidable' : 'rival';
  const isForeign = phone === 'rival' && domain !== 'right';
  if (address !== 'no-address') return isForeign && inIndex !== 'rival-missing' ? 'undecidable' : 'meant';
  if (phone === 'rival') return isForeign ? 'rival' : 'undecidable';
  return isMeant ? 'meant' : 'undecidable';
}

/** A name that two unlike companies of two towns bore one after the other. */
function reusedIntent(signs: Signs): Intent {
  if (signs.domain === 'shared' || signs.address === 'one-address') return undefined;
  if (foreign(signs) === 2) return own(signs) === 0 && signs.inIndex !== 'rival-missing' ? 'rival' : undefined;
  if (own(signs) > 0) return 'meant';
  if (foreign(signs) === 1) return signs.inIndex === 'rival-missing' ? undefined : 'undecidable';
  return signs.inIndex === 'meant-missing' ? 'undecidable' : 'meant';
}

function takenIntent(signs: Signs): Intent {
  const { inIndex, address, domain } = signs;
  const isForeign = foreign(signs) > own(signs);
  if (inIndex === 'both') return isForeign ? 'undecidable' : 'meant';
  if (inIndex === 'rival-missing') return isForeign && foreign(signs) === 2 ? undefined : 'meant';
  // Without the new bearer in the index, all that the two share speaks for the old one.
  if (foreign(signs) > 0 || domain === 'shared' || address === 'one-address') return undefined;
  return own(signs) > 0 || address === 'other-address' ? 'meant' : 'undecidable';
}

export const PAIRS: readonly PairKind[] = [
  {
    name: 'former-name-taken',
    cast(register) {
      const stem = stemOf(register);
      const { random } = register;
      return named(company(stem), company(`${stem} ${random.pick(SISTERS)}`, formerly(stem, random.int(2012, 2024))));
    },
    intent: takenIntent,
  },
  {
    name: 'former-name-free',
    cast(register) {
      const stem = stemOf(register);
      const today = company(`${stem} Holding`, formerly(stem, register.random.int(2012, 2024)));
      return { written: `${stem} ApS`, meant: today, rival: company(stemOf(register)) };
    },
    intent: (signs) =>
      signs.inIndex === 'rival-missing' && foreign(signs) === 0 && own(signs) > 0 && signs.address !== 'one-address'
        ? 'meant'
        : undefined,
  },
  {
    name: 'former-name-reused',
    cast(register) {
      const stem = stemOf(register);
      return named(company(stem), company(stemOf(register), formerly(stem, register.random.int(2008, 2018))));
    },
    intent: reusedIntent,
  },
  {
    name: 'near-given-name',
    cast: (register) =>
      nearNames(register, (random) => {
        const rest = `${random.pick(SURNAMES)} ${random.pick([...SISTERS, 'Consult', 'Rådgivning'])}`;
        const [one, other] = random.pick(NEAR_GIVEN);
        return [`${one} ${rest}`, `${other} ${rest}`];
      }),
    intent: nearIntent,
  },
  {
    name: 'near-surname',
    cast: (register) =>
      nearNames(register, (random) => {
        const business = random.pick([...BUSINESS, ...SISTERS]);
        const first = random.pick([random.pick(NEAR_GIVEN)[0], random.pick(MEN), random.pick(WOMEN)]);
        const [one, other] = random.pick(NEAR_SURNAME);
        return [`${first} ${one} ${business}`, `${first} ${other} ${business}`];
      }),
    intent: nearIntent,
  },
  {
    name: 'near-trade',
    cast: (register) =>
      nearNames(register, (random) => {
        const before = random.pick([random.pick(REGIONS), random.pick(TOWNS).name, genitive(random.pick(SURNAMES))]);
        const [one, other] = random.pick(NEAR_TRADE);
        return [`${before} ${one}`, `${before} ${other}`];
      }),
    intent: nearIntent,
  },
  {
    name: 'plain-sister',
    cast(register) {
      const stem = stemOf(register);
      const sister = company(`${stem} ${register.random.pick(SISTERS)}`);
      return register.random.chance(0.5) ? named(company(stem), sister) : named(sister, company(stem));
    },
    intent: () => 'meant',
  },
  {
    name: 'sister-unsaid',
    cast(register) {
      const stem = stemOf(register);
      return { written: stem, meant: company(`${stem} Holding`), rival: company(`${stem} Ejendomme`) };
    },
    intent(signs) {
      if (signs.inIndex === 'meant-missing') return undefined;
      // One sign alone may be the group's.
      if (own(signs) > foreign(signs) + 1) return 'meant';
      return signs.inIndex === 'both' && foreign(signs) > own(signs) + 1 ? 'rival' : 'undecidable';
    },
  },
  { name: 'chain-unit', cast: chainCast, intent: chainIntent },
  {
    name: 'ended-with-successor',
    cast: (register) => ({ ...named(company(stemOf(register)), company(stemOf(register))), successor: 'rival' }),
    intent: ({ inIndex, address, phone }) =>
      inIndex === 'meant-missing' && phone === 'rival' && (address === 'one-address' || address === 'rival-address')
        ? 'undecidable'
        : 'meant',
  },
  {
    name: 'ended-namesake',
    cast(register) {
      const stem = stemOf(register);
      const before = register.random.chance(0.5) ? company(stem) : { name: `${stem} I/S`, form: 'I/S' };
      return { ...named(company(stem), before), successor: 'meant' };
    },
    intent(signs) {
      const { inIndex, address, domain } = signs;
      if (inIndex !== 'meant-missing') return 'meant';
      if (foreign(signs) > 0 || address === 'one-address' || domain === 'shared') return 'rival';
      if (own(signs) > 0) return 'meant';
      return address === 'no-address' ? 'rival' : 'undecidable';
    },
  },
  {
    name: 'moved',
    cast(register) {
      const stem = `${register.random.pick(STEM_FRONTS)}${register.random.pick(STEM_BACKS)}`;
      const [one, other] = [register.random.pick(BUSINESS), register.random.pick(BUSINESS)];
      const isFree = one !== other && register.reserve(`${stem} ${one}`) && register.reserve(`${stem} ${other}`);
      if (!isFree) return this.cast(register);
      return { ...named(company(`${stem} ${one}`), company(`${stem} ${other}`)), hasMoved: true };
    },
    intent: ({ address }) => (address === 'one-address' ? undefined : 'meant'),
  },
];
