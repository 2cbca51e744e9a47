/**
 * A company's parent company, an association with a label.
 * https://developers.hubspot.com/docs/api-reference/crm-associations-v4/guide
 */
import type {
  AssociationSpec,
  MultiAssociatedObjectWithLabel,
} from '@hubspot/api-client/lib/codegen/crm/associations/v4/index.js';
import { type Outcome, type ParentRead, ProviderError } from '../../provider.ts';
import { isRecordId } from '../client/batch.ts';
import type { Apis } from '../client/client.ts';
import { HubspotRefusal, reasonOf } from '../client/faults.ts';
import { findOne, readCompanies } from '../read/read.ts';

const CHILD_TO_PARENT = 14;
/** HubSpot's own copy of the parent's id, read-only, which may lag for a moment. */
const PARENT_ID = 'hs_parent_company_id';
const COMPANIES = 'companies';
const ASSOCIATIONS_PAGE = 500;

type Link = MultiAssociatedObjectWithLabel;

/**
 * Reads the parents of up to 100 companies. One call finds the companies, because a merged id has no associations;
 * another reads the associations, and one more each for companies with more of them than HubSpot shows at once.
 */
export async function readParents(apis: Apis, ids: readonly string[]): Promise<readonly ParentRead[]> {
  if (ids.length === 0) return [];
  const reads = await readCompanies(apis, ids, [PARENT_ID], (texts) => ({ [PARENT_ID]: texts[PARENT_ID] || null }));
  const live = reads.flatMap((read) => (read.kind === 'found' ? [read.id] : []));
  const links = live.length === 0 ? new Map<string, readonly Link[]>() : await readLinks(apis, live);
  return reads.map((read): ParentRead => {
    if (read.kind === 'retry') throw new ProviderError('unavailable', read.reason);
    if (read.kind !== 'found') return read;
    const own = links.get(read.id);
    const copy = read.properties[PARENT_ID];
    // The answer may leave out a company that has a parent.
    const parent = own === undefined ? (copy ?? null) : (own.find(isParent)?.toObjectId ?? null);
    return { kind: 'found', id: read.id, parent: parent === null ? null : String(parent) };
  });
}

async function readLinks(apis: Apis, ids: readonly string[]): Promise<ReadonlyMap<string, readonly Link[]>> {
  const { batch } = await apis.associations();
  const answer = await batch.getPage(COMPANIES, COMPANIES, { inputs: ids.map((id) => ({ id })) });
  const links = new Map<string, readonly Link[]>();
  for (const { _from, to, paging } of answer.results) {
    const isCut = paging?.next?.after !== undefined && !to.some(isParent);
    links.set(String(_from.id), isCut ? await allLinks(apis, String(_from.id)) : to);
  }
  return links;
}

async function allLinks(apis: Apis, id: string): Promise<readonly Link[]> {
  const { basic } = await apis.associations();
  const links: Link[] = [];
  let after: string | undefined;
  do {
    const page = await basic.getPage(COMPANIES, id, COMPANIES, after, ASSOCIATIONS_PAGE);
    links.push(...page.results);
    after = page.paging?.next?.after;
  } while (after !== undefined);
  return links;
}

const isParent = ({ associationTypes }: Link): boolean =>
  associationTypes.some(({ category, typeId }) => String(category) === 'HUBSPOT_DEFINED' && typeId === CHILD_TO_PARENT);

/** Sets or removes one parent, without a call if nothing changes. Keeps other labels between the two. */
export async function writeParent(
  apis: Apis,
  change: { readonly id: string; readonly parent: string | null; readonly was: string | null },
): Promise<Outcome> {
  const { id, parent, was } = change;
  if (!isRecordId(id)) return { kind: 'gone', id };
  if (parent !== null && !isRecordId(parent))
    return { kind: 'rejected', id, reason: `HubSpot has no company ${parent}`, properties: {} };
  if (parent === was) return { kind: 'written', id };
  try {
    // A company has one parent: the old one goes first.
    if (was !== null) await unlabel(apis, id, was);
    if (parent !== null) await label(apis, id, parent);
    return { kind: 'written', id };
  } catch (error) {
    if (!(error instanceof HubspotRefusal)) throw error;
    const company = await findOne(apis, id, []);
    if (company === undefined) return { kind: 'gone', id };
    if (company.id !== id) return { kind: 'moved', id, to: company.id };
    return { kind: 'rejected', id, reason: reasonOf(error.body), properties: {} };
  }
}

/** A PUT replaces the labels of a pair, so it repeats the existing ones. */
async function label(apis: Apis, id: string, parent: string): Promise<void> {
  const { basic, Category } = await apis.associations();
  const pair = (await allLinks(apis, id)).find(({ toObjectId }) => String(toObjectId) === parent);
  const kept = (pair?.associationTypes ?? [])
    // The entry without a label is the link itself, which HubSpot adds.
    .filter(({ label: name, typeId }) => typeof name === 'string' && name !== '' && typeId !== CHILD_TO_PARENT)
    .map(({ category, typeId }): AssociationSpec => {
      const own = Object.values(Category).find((known) => String(known) === String(category));
      return { associationCategory: own ?? Category.UserDefined, associationTypeId: typeId };
    });
  const types = [...kept, { associationCategory: Category.HubspotDefined, associationTypeId: CHILD_TO_PARENT }];
  const { toObjectId } = await basic.create(COMPANIES, id, COMPANIES, parent, types);
  if (String(toObjectId) !== parent)
    throw new ProviderError('unavailable', 'HubSpot answered without confirming the parent');
}

async function unlabel(apis: Apis, id: string, parent: string): Promise<void> {
  const { batch, Category } = await apis.associations();
  const types = [{ associationCategory: Category.HubspotDefined, associationTypeId: CHILD_TO_PARENT }];
  await batch.archiveLabels(COMPANIES, COMPANIES, { inputs: [{ _from: { id }, to: { id: parent }, types }] });
}
