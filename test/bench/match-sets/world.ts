/** The register of a labelled set, while it grows. */
import type { IndexEntry } from '../../../src/match/describe/entry.ts';
import { type Random, randomFrom } from '../../../src/protocol/sample/random.ts';
import { hostOf } from './typing.ts';
import * as from from './words.ts';

export interface Town {
  readonly postalCode: string;
  readonly city: string;
}

export interface Place extends Town {
  readonly street: string;
}

/** A company before it has a number; its name without the form. */
export type Part = Partial<Omit<IndexEntry, 'number' | 'company'>>;

const WEIGHTS = [2, 7, 6, 5, 4, 3, 2];
/** The forms that stand behind a name. */
const BEHIND = new Set(['ApS', 'A/S', 'IVS', 'I/S', 'K/S', 'P/S', 'S.M.B.A.']);
const BEFORE = /^(?:Anpartsselskabet|K\/S) /u;

export class World {
  readonly random: Random;
  readonly entries: IndexEntry[] = [];
  readonly #numbers = new Set<string>();
  readonly #claimed = new Set<string>();

  constructor(seed: number) {
    this.random = randomFrom(seed);
  }

  /** Holds a name for one company; false if another one has it. */
  claim(key: string): boolean {
    const isFree = !this.#claimed.has(key);
    this.#claimed.add(key);
    return isFree;
  }

  isClaimed(key: string): boolean {
    return this.#claimed.has(key);
  }

  /** Eight digits that pass modulus 11. */
  cvr(): string {
    const digits = String(this.random.int(1_000_000, 4_599_999));
    const sum = WEIGHTS.reduce((total, weight, at) => total + weight * Number(digits[at]), 0);
    const check = (11 - (sum % 11)) % 11;
    return check === 10 ? this.cvr() : this.#once(`${digits}${check}`, () => this.cvr());
  }

  pNumber(): string {
    return this.#once(`10${this.random.int(10_000_000, 29_999_999)}`, () => this.pNumber());
  }

  phone(): string {
    const first = this.random.pick(['2', '3', '4', '5', '6', '7', '8', '9']);
    return this.#once(`${first}${this.random.int(1_000_000, 9_999_999)}`, () => this.phone());
  }

  town(): Town {
    const town = this.random.pick(from.TOWNS);
    return { postalCode: town.slice(0, 4), city: town.slice(5) };
  }

  place({ postalCode, city }: Town = this.town()): Place {
    const floor = this.random.chance(0.25)
      ? `, ${this.random.pick(['st. th', '1. tv', '2.', '1.', '3. th', 'st.'])}`
      : '';
    const letter = this.random.chance(0.15) ? this.random.pick(['A', 'B', 'C']) : '';
    return {
      street: `${this.random.pick(from.STREETS)} ${this.random.int(1, 180)}${letter}${floor}`,
      postalCode,
      city,
    };
  }

  surname(): string {
    return this.random.pick(this.random.chance(0.4) ? from.COMMON_SURNAMES : from.SURNAMES);
  }

  person(): string {
    const middle = this.random.chance(0.3) ? `${this.random.pick(from.SURNAMES)} ` : '';
    return `${this.random.pick(from.FIRST_NAMES)} ${middle}${this.surname()}`;
  }

  /** An invented name that no other company of the set begins with. */
  brand(before = ''): string {
    const middle = this.random.pick(['', '', 'i', 'o', 'a', 'er', 'um']);
    const name = `${before}${this.random.pick(from.BRAND_HEADS)}${middle}${this.random.pick(from.BRAND_TAILS)}`;
    return this.claim(`brand ${name}`) ? name : this.brand(`${this.random.pick(from.BRAND_HEADS)}-`);
  }

  /** An owner's surname with a trade: no other planted company has both. */
  firm(middle = ''): { readonly surname: string; readonly trade: string; readonly name: string } {
    const [surname, trade] = [`${middle} ${this.surname()}`.trim(), this.random.pick(from.TRADES)];
    if (!this.claim(`firm ${surname} ${trade}`)) return this.firm(this.random.pick(from.SURNAMES));
    return { surname, trade, name: this.firmName(surname, trade) };
  }

  firmName(surname: string, trade: string): string {
    const owner = surname.endsWith('s') ? `${surname}'` : `${surname}s`;
    return this.random.pick([
      `${owner} ${trade}`,
      `${surname} ${trade}`,
      `${this.random.pick(from.FIRST_NAMES)} ${surname} ${trade}`,
      `${surname} & Søn ${trade}`,
      `${surname} & ${this.random.pick(from.SURNAMES)} ${trade}`,
    ]);
  }

  brandName(): string {
    return `${this.brand()} ${this.random.pick(from.BRAND_KINDS)}`;
  }

  /** A trade with its region: `Midtjysk Køleteknik`. */
  regional(): string {
    const name = `${this.random.pick(from.REGIONS)} ${this.random.pick(from.TRADES)}`;
    return this.claim(`firm ${name}`) ? name : this.firm().name;
  }

  name(): string {
    if (this.random.chance(0.2)) return this.regional();
    return this.random.chance(0.5) ? this.firm().name : this.brandName();
  }

  form(): string {
    return this.random.pick(['ApS', 'ApS', 'ApS', 'ApS', 'A/S', 'A/S', 'I/S', 'Enkeltmandsvirksomhed']);
  }

  /** A company that the index does not have. */
  sketch(part: Part = {}): IndexEntry {
    const form = part.form === undefined ? this.form() : part.form;
    const bare = part.name ?? this.name();
    const number = this.cvr();
    const name = form !== null && BEHIND.has(form) && !BEFORE.test(bare) ? `${bare} ${form}` : bare;
    const host = this.host(name);
    const [hasPhone, hasEmail, hasWebsite] = [0.65, 0.45, 0.2].map((share) => this.random.chance(share));
    return {
      otherNames: [],
      formerNames: [],
      address: this.place(),
      formerAddresses: [],
      phone: hasPhone ? this.phone() : null,
      website: hasWebsite ? `www.${host}` : null,
      email: hasEmail ? this.#email(host) : null,
      ended: null,
      successor: null,
      ...part,
      ...{ number, company: number, name, form },
    };
  }

  /** A company of the index. */
  plant(part: Part = {}): IndexEntry {
    const entry = this.sketch(part);
    this.entries.push(entry);
    return entry;
  }

  /** A company of the index that the register knows by its host, from a website or a mailbox. */
  hosted(part: Part = {}): { readonly entry: IndexEntry; readonly host: string } {
    const bare = part.name ?? this.name();
    const host = this.host(bare);
    const known = this.random.pick<Part>([
      { website: `www.${host}`, email: `post@${host}` },
      { website: `https://${host}`, email: null },
      { website: null, email: `info@${host}` },
    ]);
    return { entry: this.plant({ ...part, name: bare, ...known }), host };
  }

  /** A production unit of a company. */
  unit(of: IndexEntry, part: Part = {}): IndexEntry {
    const own = { number: this.pNumber(), company: of.company };
    const entry = {
      ...this.sketch({ name: of.name, phone: null, website: null, email: null, ...part, form: null }),
      ...own,
    };
    this.entries.push(entry);
    return entry;
  }

  day(from: number, to: number): string {
    const [month, day] = [this.random.int(1, 12), this.random.int(1, 28)];
    return `${this.random.int(from, to)}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
  }

  /** A host of its own. */
  host(name: string, more = ''): string {
    const host = hostOf(name).replace('.dk', `${more}.dk`);
    return this.claim(`host ${host}`) ? host : this.host(name, `${this.random.int(2, 999)}`);
  }

  #email(host: string): string {
    const box = this.random.pick(['info', 'mail', 'kontakt', 'post', 'faktura', host.slice(0, 2)]);
    return this.random.chance(0.7)
      ? `${box}@${host}`
      : `${host.slice(0, -3)}${this.random.int(1, 99)}@${this.random.pick(from.FREEMAIL)}`;
  }

  #once(text: string, again: () => string): string {
    if (this.#numbers.has(text)) return again();
    this.#numbers.add(text);
    return text;
  }
}
