import type { Change } from '../../changes/change.ts';
import type { Company } from '../document/company.ts';
import type { BodyMember } from '../document/relations.ts';
import { dayAfter } from '../document/validity.ts';
import { changeOf, onceOnly } from './change-of.ts';
import { type DiffOptions, entityOf } from './differ.ts';

const NEW_DAYS = 30;

/**
 * Whether a company is new: it began, and the register first had it, within these days. Either sign alone is not
 * enough: the register also adds old companies, and touches the first entries of old ones.
 */
const isNew = ({ life }: Company, { today, newWithinDays = NEW_DAYS }: DiffOptions): boolean => {
  const { founded, registered, ended } = life.value;
  const since = dayAfter(today, -newWithinDays);
  return founded !== null && ended === null && founded.slice(0, 10) >= since && (registered ?? today) >= since;
};

const companiesIn = (members: readonly BodyMember[]): readonly BodyMember[] =>
  members.filter(({ entityId }) => entityId.startsWith('CVR-1-'));

/** The founders of a company that are companies: its registered owners, else its founders. */
const parentsOf = ({ entity, bodies }: Pick<Company, 'entity' | 'bodies'>): readonly BodyMember[] => {
  const owners = companiesIn(bodies.ownership.members);
  const parents = owners.length > 0 ? owners : companiesIn(bodies.founders.members);
  return parents.filter(({ entityId }) => entityId !== entity);
};

const NOBODY = { members: [], at: null };

/** Whether the company had parents. Parts that were unknown hold their first values for the comparison. */
const hadParents = ({ entity, bodies, unknown = [] }: Company): boolean => {
  const { ownership, founders } = bodies;
  const known = (part: 'ownership' | 'founders') => !unknown.includes(part);
  const stated = {
    ...bodies,
    ownership: known('ownership') ? ownership : NOBODY,
    founders: known('founders') ? founders : NOBODY,
  };
  return parentsOf({ entity, bodies: stated }).length > 0;
};

/**
 * `newCompany` at the first revision of a new company, and `subsidiaryFounded` for each company that owns it: at the
 * first revision, or when it first has owners and is still new. Each is published once.
 */
export const foundingOf = (before: Company | undefined, after: Company, options: DiffOptions): readonly Change[] => {
  if (before !== undefined && (hadParents(before) || parentsOf(after).length === 0)) return [];
  if (!isNew(after, options)) return [];
  const snapshots = { before, after };
  const { entity, name } = after;
  const company = entityOf(entity, name, options.placeType);
  const at = [after.life.at];
  const newCompany = changeOf({ entity, name, updates: { newCompany: { entity: company } }, at }, snapshots);
  const subsidiaries = parentsOf(after).map((parent) => {
    const ownership = { ...company, ownership: parent.share };
    const owner = { entity: parent.entityId, name: parent.name ?? parent.entityId };
    const founding = changeOf({ ...owner, updates: { subsidiaryFounded: { ownership } }, at }, snapshots);
    return onceOnly(founding, 'subsidiaryFounded', parent.entityId, entity);
  });
  return before === undefined ? [onceOnly(newCompany, 'newCompany', entity), ...subsidiaries] : subsidiaries;
};
