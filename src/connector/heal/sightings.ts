/** Which of the records that a CRM tells of are worth a look: a hint costs nothing, a look costs a call. */
import type { PropertyValue, Read, Sighting } from '../../../providers/provider.ts';
import { each } from '../../store/each.ts';
import type { Db } from '../../store/store.ts';
import type { Crm } from '../crm.ts';
import { holdOf } from '../hold.ts';
import type { Link } from '../links.ts';
import { judge, type Rule } from './judge.ts';

/** What a connection's links follow, as far as its account shows it. */
export interface Follow extends Rule {
  /** The properties to ask for. */
  readonly properties: readonly string[];
}

/** What there is to follow; `match` as match.ts gives it. */
export function followOf(crm: Crm, match: string | undefined, now: number): Follow {
  return {
    match,
    autoLink: crm.autoLink,
    isHeld: (properties: Readonly<Record<string, PropertyValue>>) => holdOf(crm, properties, now) !== undefined,
    properties: [match, crm.hold].filter((name) => name !== undefined),
  };
}

/** The links of records, by record id, whatever their state. */
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

/** The records to look at, of those that a CRM's webhook names: the linked ones, and all where records link themselves. */
export async function namedRecords(db: Db, crm: Crm, ids: readonly string[]): Promise<readonly string[]> {
  const distinct = [...new Set(ids)];
  if (crm.autoLink) return distinct;
  const links = await linksOf(db, crm.name, distinct);
  return distinct.filter((id) => links.has(id));
}

/** The records to look at, of those that were sighted: what would change nothing as it was seen is left alone. */
export async function sightedRecords(
  db: Db,
  crm: Crm,
  follow: Follow,
  sightings: readonly Sighting[],
): Promise<readonly string[]> {
  const links = await linksOf(
    db,
    crm.name,
    sightings.map(({ id }) => id),
  );
  const ids = sightings.flatMap((sighting): string[] => {
    const link = links.get(sighting.id);
    if (sighting.kind === 'moved') {
      if (link !== undefined && link.state !== 'merged') return [sighting.id];
      return crm.autoLink ? [sighting.to] : [];
    }
    const verdict = judge(link, asRead(sighting), follow);
    const changesNothing = verdict.kind === 'nothing' || (verdict.kind === 'held' && link === undefined);
    return changesNothing ? [] : [sighting.id];
  });
  return [...new Set(ids)];
}

const asRead = (sighting: Sighting): Read =>
  sighting.kind === 'seen' ? { kind: 'found', id: sighting.id, properties: sighting.properties } : sighting;
