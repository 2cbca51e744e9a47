import type { Company } from './company.ts';
import type { RelationBody } from './relations.ts';

/** A part with its own section in documents: a key of the snapshot, or a body. */
export type Part =
  | RelationBody
  | Exclude<
      keyof Company,
      | 'kind'
      | 'snapshotForm'
      | 'entity'
      | 'name'
      | 'registeredAt'
      | 'loadedAt'
      | 'readOn'
      | 'bodies'
      | 'unknown'
      | 'emptied'
      | 'withheld'
      | 'inherited'
    >;

export const FAMILIES = {
  name: ['names'],
  altNames: ['altNames'],
  address: ['address'],
  industry: ['industry', 'altIndustries'],
  purpose: ['purpose'],
  powerToBind: ['powerToBind'],
  bylawsChangedDate: ['bylawsChangedDate'],
  capital: ['capital'],
  form: ['form'],
  email: ['email'],
  fax: ['fax'],
  phoneNumber: ['phoneNumber'],
  website: ['website'],
  status: ['status', 'credit'],
  lifetime: ['life'],
  owners: ['ownership'],
  beneficialOwners: ['trueOwnership', 'trueVoteRights'],
  accountant: ['accountant'],
  board: ['board'],
  management: ['management'],
  stakeholders: ['stakeholders'],
  founders: ['founders'],
  mergers: ['mergers'],
  productionUnits: ['units'],
  commercialProtection: ['commercialProtection'],
  employment: ['monthly', 'quarterly', 'yearly'],
} as const satisfies Readonly<Record<string, readonly Part[]>>;

export type Family = keyof typeof FAMILIES;

const isFamily = (name: string): name is Family => Object.hasOwn(FAMILIES, name);

export const ALL_FAMILIES: readonly Family[] = Object.keys(FAMILIES).filter(isFamily);

export const PARTS: readonly Part[] = ALL_FAMILIES.flatMap((family): readonly Part[] => FAMILIES[family]);

/** The parts of a snapshot that belong to some families. A unit's company belongs to the production units. */
export const partsOf = (families: readonly Family[]): ReadonlySet<string> =>
  new Set(families.flatMap((family): readonly string[] => [...FAMILIES[family], ...(UNIT_PARTS_OF[family] ?? [])]));

const UNIT_PARTS_OF: Readonly<Partial<Record<Family, readonly string[]>>> = { productionUnits: ['company'] };

/** The parts that a source with these families does not cover. */
export const unspokenBy = (families: readonly Family[]): ReadonlySet<string> =>
  partsOf(ALL_FAMILIES.filter((family) => !families.includes(family)));
