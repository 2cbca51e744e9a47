/** The families of facts that Datafordeler covers, and the entities that state them. */
import type { Family } from '../../document/families.ts';
import type { DafEntity } from './rows.ts';

/** The entities that each family needs; if one is missing, the family is unknown. */
const FAMILY_ENTITIES = {
  name: ['Navn'],
  altNames: ['Navn'],
  address: ['Adressering'],
  industry: ['Branche'],
  form: ['Virksomhedsform'],
  email: ['e_mailadresse'],
  fax: ['Telefaxnummer'],
  phoneNumber: ['Telefonnummer'],
  status: ['Virksomhed', 'Kreditoplysninger'],
  lifetime: ['Virksomhed'],
  stakeholders: ['FuldtAnsvarligDeltagerRelation', 'CVREnhed'],
  productionUnits: ['Produktionsenhed'],
  commercialProtection: ['Reklamebeskyttelse'],
} as const satisfies { readonly [F in Family]?: readonly DafEntity[] };

const isFamily = (name: string): name is keyof typeof FAMILY_ENTITIES => Object.hasOwn(FAMILY_ENTITIES, name);

/** Other families stay unknown. */
export const DATAFORDELER_FAMILIES: readonly Family[] = Object.keys(FAMILY_ENTITIES).filter(isFamily);

/** The families that are unknown while these entities cannot be read. */
export const familiesWithout = (entities: Iterable<DafEntity>): readonly Family[] => {
  const missing = new Set<DafEntity>(entities);
  return Object.entries(FAMILY_ENTITIES).flatMap(([family, needed]) =>
    isFamily(family) && needed.some((entity) => missing.has(entity)) ? [family] : [],
  );
};
