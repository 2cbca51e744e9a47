/** Changes of relations from the persons' side: who joined, left or changed share. */
import type { Owner } from '../../../protocol/formats.ts';
import type { Updates } from '../../../protocol/payload.ts';
import type { Change } from '../../changes/change.ts';
import type { Company } from '../document/company.ts';
import type { BodyMember } from '../document/relations.ts';
import { changeOf, type StateStep } from './change-of.ts';
import { bodyChange, type RelationEvent, type RoleEvent, type ShareEvent } from './differ-relations.ts';

const SHARE_EVENTS: readonly ShareEvent[] = ['ownership', 'trueOwnership', 'trueVoteRights'];
const ROLE_EVENTS: readonly RoleEvent[] = ['accountant', 'board', 'management', 'stakeholders'];

/** The key of a former share: the id of a legal owner, the event and the id of others. */
const keyOf = (event: ShareEvent, entityId: string): string =>
  event === 'ownership' ? entityId : `${event} ${entityId}`;

/**
 * Former shares of owners whose share or name changed. A legal owner's key is its entity id; those of a beneficial
 * owner, who can be both, are `trueOwnership <id>` and `trueVoteRights <id>`.
 */
export const formerSharesOf = (before: Company, after: Company): Readonly<Record<string, string>> =>
  Object.fromEntries(
    SHARE_EVENTS.flatMap((event) => {
      const { changed = [], renamed = [] } = bodyChange(before, after, event) ?? {};
      const kept = renamed.map(({ member }) => ({ member, former: member.share }));
      return [...changed, ...kept].flatMap(({ member, former }): [string, string][] =>
        former === null ? [] : [[keyOf(event, member.entityId), former]],
      );
    }),
  );

type Turn = 'added' | 'removed' | 'changed';

interface Found {
  name: string;
  updates: Updates;
  at: readonly (string | null)[];
  formerShares: Record<string, string>;
}

const only = <T>(turn: Turn, item: T): { added: T[]; removed: T[]; changed: T[] } => ({
  added: turn === 'added' ? [item] : [],
  removed: turn === 'removed' ? [item] : [],
  changed: turn === 'changed' ? [item] : [],
});

/** A member's change from the member's side: the company takes the member's place. */
const inverted = ({ entity, name }: Company, event: RelationEvent, turn: Turn, share: string | null): Updates => {
  const company = { entityId: entity, name, type: 'Company' };
  const owned = only<Owner>(turn, { ...company, ownership: share });
  if (event === 'ownership') return { ownership: owned };
  if (event === 'trueOwnership') return { trueOwnership: owned };
  if (event === 'trueVoteRights') return { trueVoteRights: only(turn, { ...company, voterights: share }) };
  const { added, removed } = only(turn, company);
  return { [event]: { added, removed } };
};

/** One change for each person (CVR-3-…) whose relations to the company changed. */
export const peopleChanges = (before: Company, after: Company, step: StateStep): readonly Change[] => {
  const people = new Map<string, Found>();
  for (const event of [...SHARE_EVENTS, ...ROLE_EVENTS]) {
    const change = bodyChange(before, after, event);
    if (change === undefined) continue;
    const add = (turn: Turn, { entityId, name, share }: BodyMember, former: string | null = null): void => {
      if (!entityId.startsWith('CVR-3-')) return;
      const known = people.get(entityId) ?? { name: name ?? entityId, updates: {}, at: [], formerShares: {} };
      const formerShares = { ...known.formerShares };
      const isShare = event === 'ownership' || event === 'trueOwnership' || event === 'trueVoteRights';
      if (former !== null && isShare) formerShares[keyOf(event, after.entity)] = former;
      const updates = { ...known.updates, ...inverted(after, event, turn, share) };
      people.set(entityId, { name: known.name, updates, at: [...known.at, ...change.at], formerShares });
    };
    for (const member of change.added) add('added', member);
    for (const member of change.removed) add('removed', member);
    for (const { member, former } of change.changed) add('changed', member, former);
  }
  return [...people].map(([entity, found]) => changeOf({ entity, ...found }, step));
};
