/** Whether links, the service's items and the CRMs agree, once nothing happens any more. */
import { CAME_BY_MERGE } from '../../src/connector/links/links.ts';
import type { Store } from '../../src/store/store.ts';
import type { CrmName } from '../support/fixture.ts';
import { CRM_NAMES, type openCrowd } from './crowd.ts';

const NO_NUMBER = 'no number';

type Crowd = ReturnType<typeof openCrowd>;
type StoredLink = Awaited<ReturnType<typeof linksOf>>[number];

const linksOf = (store: Store, crm: CrmName) =>
  store.db.selectFrom('link').selectAll().where('provider', '=', crm).execute();

/** Where links, items and CRMs do not agree, as sentences. */
export async function disagreements(
  store: Store,
  crowd: Crowd,
  service: { items(provider: string): readonly string[] },
): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const crm of CRM_NAMES) {
    const links = await linksOf(store, crm);
    wrong.push(...wrongLinks(crm, crowd, links), ...wrongItems(crm, service.items(crm), links));
    wrong.push(...unlinkedRecords(crm, crowd, links));
  }
  return wrong;
}

/** Whether a merge took a company to this record. */
const isTakenTo = (crm: CrmName, crowd: Crowd, id: string, entity: string): boolean =>
  crowd.takenUp.get(`${crm} ${id}`)?.includes(entity) === true;

/** Links of records that hold another company, or that are gone. */
function wrongLinks(crm: CrmName, crowd: Crowd, links: readonly StoredLink[]): readonly string[] {
  const records = crowd.records(crm);
  return links.flatMap((link) => {
    if (link.state !== 'active') return [];
    const id = link.record_id;
    const held = records.has(id) ? (records.get(id) ?? NO_NUMBER) : 'nothing: it is gone';
    // A link that came by a merge outlasts a survivor without a number.
    const came = link.mismatch === CAME_BY_MERGE && isTakenTo(crm, crowd, id, link.entity);
    return held === link.entity || (came && held === NO_NUMBER)
      ? []
      : [`${crm} ${id} holds ${held}, and is linked: ${JSON.stringify(link)}`];
  });
}

/** Items that no link wishes, and wishes without an item. */
function wrongItems(crm: CrmName, items: readonly string[], links: readonly StoredLink[]): readonly string[] {
  const isItem = new Set(items);
  const isWished = new Set(
    links.filter(({ desired }) => desired === 'on').map((link) => `${link.entity} ${link.record_id}`),
  );
  return [
    ...[...isItem.difference(isWished)].map((item) => `${crm} monitors ${item}, which nobody wishes`),
    ...[...isWished.difference(isItem)].map((item) => `${crm} does not monitor ${item}`),
  ];
}

/** Records that alone hold a company, and are not linked to it. */
function unlinkedRecords(crm: CrmName, crowd: Crowd, links: readonly StoredLink[]): readonly string[] {
  const isKnown = new Set(
    links.filter(({ state }) => state === 'active' || state === 'conflict').map((link) => link.record_id),
  );
  const holders = Map.groupBy(crowd.records(crm), ([, entity]) => entity);
  return [...holders].flatMap(([entity, [only, ...others]]) => {
    if (entity === undefined || only === undefined || others.length > 0) return [];
    const [id] = only;
    if (isKnown.has(id) || crowd.blends.has(`${crm} ${id}`)) return [];
    const near = links.filter((link) => link.entity === entity || link.record_id === id);
    // Its company was taken to another record by a merge: a person is asked there.
    const isClaimed = near.some((link) => isKnown.has(link.record_id) && isTakenTo(crm, crowd, link.record_id, entity));
    return isClaimed ? [] : [`${crm} ${id} alone holds ${entity} and is not linked: ${JSON.stringify(near)}`];
  });
}
