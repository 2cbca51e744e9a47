/** Decides which records of change hints to read: a hint costs nothing, a read costs a call. */
import type { ChangeHint, PropertyValue, Read } from '../../../providers/provider.ts';
import { each } from '../../store/each.ts';
import type { Db } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { holdOf, holdProperties } from '../crm/hold.ts';
import type { Link } from '../links/links.ts';
import { decideLink, type HealRule } from './decide-link.ts';

export interface Follow extends HealRule {
  readonly properties: readonly string[];
}

/** `match` as match-property.ts returns it. */
export function followOf(crm: Crm, match: string | undefined, now: number): Follow {
  return {
    match,
    autoLink: crm.autoLink,
    isHeld: (properties: Readonly<Record<string, PropertyValue>>) => holdOf(crm, properties, now) !== undefined,
    properties: [...(match === undefined ? [] : [match]), ...holdProperties(crm)],
  };
}

/** In any state, by record id. */
export async function linksOf(db: Db, provider: string, ids: readonly string[]): Promise<ReadonlyMap<string, Link>> {
  if (ids.length === 0) return new Map();
  const links = await db
    .selectFrom('link')
    .selectAll()
    .where('provider', '=', provider)
    .where('record_id', 'in', each(db, ids))
    .execute();
  return new Map(links.map((link) => [link.record_id, link]));
}

/** Of the records that a CRM's webhook names: the linked ones, or all with `autoLink`. */
export async function namedRecords(db: Db, crm: Crm, ids: readonly string[]): Promise<readonly string[]> {
  const distinct = [...new Set(ids)];
  if (crm.autoLink) return distinct;
  const links = await linksOf(db, crm.name, distinct);
  return distinct.filter((id) => links.has(id));
}

/** Skips a hint that changes no link. */
export async function hintedRecords(
  db: Db,
  crm: Crm,
  follow: Follow,
  changeHints: readonly ChangeHint[],
): Promise<readonly string[]> {
  const links = await linksOf(
    db,
    crm.name,
    changeHints.map(({ id }) => id),
  );
  const ids = changeHints.flatMap((changeHint): string[] => {
    const link = links.get(changeHint.id);
    if (changeHint.kind === 'moved') {
      if (link !== undefined && link.state !== 'merged') return [changeHint.id];
      return crm.autoLink ? [changeHint.to] : [];
    }
    const decision = decideLink(link, asRead(changeHint), follow);
    const changesNothing = decision.kind === 'nothing' || (decision.kind === 'held' && link === undefined);
    return changesNothing ? [] : [changeHint.id];
  });
  return [...new Set(ids)];
}

/** Records without a link that may get a suggestion; none if the connection wants none. */
export async function unlinkedRecords(db: Db, crm: Crm, ids: readonly string[]): Promise<readonly string[]> {
  if (crm.autoMatch === undefined) return [];
  const distinct = [...new Set(ids)];
  const links = await linksOf(db, crm.name, distinct);
  return distinct.filter((id) => !links.has(id));
}

const asRead = (changeHint: ChangeHint): Read =>
  changeHint.kind === 'seen' ? { kind: 'found', id: changeHint.id, properties: changeHint.properties } : changeHint;
