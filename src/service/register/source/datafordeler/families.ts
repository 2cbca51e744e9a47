/** What Datafordeler can state, and which entity states it. */
import type { Family } from '../../document/families.ts';
import type { DafEntity } from './rows.ts';

/** The families by the entities that they need: without one of them, a family is unknown. */
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

/** The families of {@link RegisterSource.families}; the other ones stay unknown. */
export const DATAFORDELER_FAMILIES: readonly Family[] = Object.keys(FAMILY_ENTITIES).filter(isFamily);

/** The families that are unknown while these entities cannot be read. */
export const familiesWithout = (entities: Iterable<DafEntity>): readonly Family[] => {
  const missing = new Set<DafEntity>(entities);
  return Object.entries(FAMILY_ENTITIES).flatMap(([family, needed]) =>
    isFamily(family) && needed.some((entity) => missing.has(entity)) ? [family] : [],
  );
};
