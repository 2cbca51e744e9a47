/** The records of two CRMs before a backfill, and the people who go on working in them meanwhile. */
import type { PropertyValue } from '../../providers/provider.ts';
import type { SampleCompany } from '../../src/protocol/sample/company.ts';
import type { Random } from '../../src/protocol/sample/random.ts';
import type { CrmName, Crms } from '../support/fixture.ts';

export const NUMBERS = { hubspot: 'cvr_number', salesforce: 'CVR_Number__c' } as const;
const NAMES = { hubspot: 'name', salesforce: 'Name' } as const;
/** Properties that the register has a say in, as long as nobody wrote something else. */
const SHARED = { hubspot: ['name', 'phone', 'city'], salesforce: ['Name', 'Phone', 'BillingCity'] } as const;
/** A property that no mapping names: nobody but people writes it. */
const THEIRS = { hubspot: 'domain', salesforce: 'ShippingCity' } as const;
export const CRM_NAMES = ['hubspot', 'salesforce'] as const;

export interface Crowd {
  /** Every record that lives, by CRM: its id, and its company if the number is one. */
  records(crm: CrmName): ReadonlyMap<string, string | undefined>;
  /** One act of a person: a deletion, a merge, a number that is corrected, added or taken out, a word, a new record. */
  act(): void;
  /**
   * Writes what the register would write, too, into some records. Only while nobody is between a read and a write can
   * that be told from a race.
   */
  edit(share: number): void;
  /** Edits that are not there any more, as sentences. */
  lost(): readonly string[];
  /** Records that took up one of another company. */
  readonly blends: ReadonlySet<string>;
  /** The companies of records that were merged, by the `crm id` of each and of the survivor: those held then or before. */
  readonly takenUp: ReadonlyMap<string, readonly string[]>;
}

/** How people write a number: all of them mean the same one. */
const SPELLINGS: readonly [(digits: string) => string, ...((digits: string) => string)[]] = [
  (digits) => digits,
  (digits) => `DK${digits}`,
  (digits) => `DK-${digits.replace(/(..)(?=.)/g, '$1 ').trim()}`,
  (digits) => `CVR ${digits.slice(0, 2)}.${digits.slice(2, 4)}.${digits.slice(4, 6)}.${digits.slice(6)}`,
  (digits) => `${digits} `,
];
const NO_NUMBERS: readonly [PropertyValue, ...PropertyValue[]] = [null, '', 'ukendt', '1234', '1000000001', '00000000'];

const digitsOf = (entity: string): string => entity.slice('CVR-1-'.length);

/** Fills both CRMs: most companies once, some twice, and some records without a number that is one. */
export function openCrowd(crms: Crms, companies: readonly SampleCompany[], random: Random): Crowd {
  const ids = { hubspot: openPool(), salesforce: openPool() };
  const edits = { hubspot: new Map<string, Edits>(), salesforce: new Map<string, Edits>() };
  const blends = new Set<string>();
  const takenUp = new Map<string, readonly string[]>();
  /** The companies whose numbers a record held before. */
  const earlier = new Map<string, readonly string[]>();
  let count = 0;

  const spelled = (entity: string): string => random.pick(SPELLINGS)(digitsOf(entity));
  const add = (crm: CrmName, name: string, number: PropertyValue): void => {
    try {
      ids[crm].add(crms[crm].add({ [NAMES[crm]]: name, [NUMBERS[crm]]: number }));
    } catch {
      // The same spelling twice: a unique property does not take it, in the CRM neither.
    }
  };
  for (const crm of CRM_NAMES)
    for (const { entityId, name } of companies) {
      add(crm, name, random.chance(0.06) ? random.pick(NO_NUMBERS) : spelled(entityId));
      if (random.chance(0.03)) add(crm, `${name} (2)`, spelled(entityId));
    }
  // Where people delete faster than they add, the test would end with nothing to look at.
  const least = { hubspot: ids.hubspot.size * 0.7, salesforce: ids.salesforce.size * 0.7 };

  const numberOf = (crm: CrmName, id: string): string | undefined => {
    const digits = String(crms[crm].get(id)?.[NUMBERS[crm]] ?? '').replaceAll(/\D/g, '');
    return /^[1-9]\d{7}$/.test(digits) ? `CVR-1-${digits}` : undefined;
  };
  const any = (crm: CrmName): string => ids[crm].at(random.int(0, ids[crm].size - 1));
  const forget = (crm: CrmName, id: string): void => {
    ids[crm].delete(id);
    edits[crm].delete(id);
  };
  const companiesOf = (crm: CrmName, id: string): readonly string[] =>
    [...(earlier.get(`${crm} ${id}`) ?? []), numberOf(crm, id)].filter((entity) => entity !== undefined);
  const write = (crm: CrmName, id: string, number: PropertyValue): void => {
    const before = companiesOf(crm, id);
    try {
      crms[crm].edit(id, { [NUMBERS[crm]]: number });
      earlier.set(`${crm} ${id}`, before);
    } catch {
      // Taken already.
    }
  };
  const say = (crm: CrmName, id: string, property: string, own: string): void => {
    crms[crm].edit(id, { [property]: own });
    edits[crm].set(id, { ...edits[crm].get(id), [property]: own });
  };

  function merge(crm: CrmName): void {
    const [primary, other] = [any(crm), any(crm)];
    if (primary === other) return;
    const isBlend = new Set([numberOf(crm, primary), numberOf(crm, other), undefined]).size > 2;
    const companies = [...companiesOf(crm, primary), ...companiesOf(crm, other)];
    const edited = edits[crm].get(primary);
    const survivor = crms[crm].merge(primary, other);
    forget(crm, primary);
    forget(crm, other);
    ids[crm].add(survivor);
    if (edited !== undefined) edits[crm].set(survivor, edited);
    earlier.set(`${crm} ${survivor}`, companies);
    // A link that waits for a person may still be that of the record that is gone.
    for (const id of [primary, other, survivor]) takenUp.set(`${crm} ${id}`, companies);
    if (isBlend) blends.add(`${crm} ${survivor}`);
  }

  return {
    blends,
    takenUp,
    records: (crm) => new Map([...ids[crm].all()].map((id) => [id, numberOf(crm, id)])),
    act() {
      count += 1;
      const crm = random.pick(CRM_NAMES);
      const { entityId, name } = companies[random.int(0, companies.length - 1)] ?? {
        entityId: 'CVR-1-10000000',
        name: '',
      };
      const deed = ids[crm].size < least[crm] ? 13 : random.int(0, 13);
      if (deed < 2) {
        const id = any(crm);
        crms[crm].remove(id);
        forget(crm, id);
      } else if (deed < 4) merge(crm);
      else if (deed < 5) write(crm, any(crm), null);
      else if (deed < 7) write(crm, any(crm), spelled(entityId));
      else if (deed < 10) say(crm, any(crm), THEIRS[crm], `word-${count}.example`);
      else add(crm, `${name} (${count})`, spelled(entityId));
    },
    edit(share) {
      for (const crm of CRM_NAMES)
        for (const id of ids[crm].all())
          if (random.chance(share)) {
            count += 1;
            say(crm, id, random.pick(SHARED[crm]), `Ida's own ${count}`);
          }
    },
    lost: () =>
      CRM_NAMES.flatMap((crm) =>
        [...edits[crm]].flatMap(([id, own]) =>
          Object.entries(own).flatMap(([property, word]) => {
            const held = crms[crm].get(id)?.[property];
            return held === word ? [] : [`${crm} ${id} holds ${property} ${String(held)}, and a person wrote ${word}`];
          }),
        ),
      ),
  };
}

/** What people wrote into one record, by property. */
type Edits = Readonly<Record<string, string>>;

/** Ids in which any can be found at once, however many there are. */
interface Pool {
  readonly size: number;
  add(id: string): void;
  delete(id: string): void;
  at(index: number): string;
  all(): readonly string[];
}

function openPool(): Pool {
  const list: string[] = [];
  const places = new Map<string, number>();
  return {
    get size() {
      return list.length;
    },
    add(id) {
      places.set(id, list.push(id) - 1);
    },
    delete(id) {
      const place = places.get(id);
      const last = list.pop();
      if (place === undefined || last === undefined) throw new Error(`nobody knows record ${id}`);
      places.delete(id);
      if (last === id) return;
      list[place] = last;
      places.set(last, place);
    },
    at(index) {
      const id = list[index];
      if (id === undefined) throw new Error('no record is left');
      return id;
    },
    all: () => [...list],
  };
}
