/** The records of both CRMs as people see them: what somebody wrote, what is held, and what must therefore stay. */
import type { PropertyValue } from '../../providers/provider.ts';
import type { CrmRecord as ChaosRecord } from '../chaos/records.ts';
import { togetherWith } from '../chaos/records.ts';
import type { CrmName, Crms } from '../support/fixture.ts';

/** `edits`: what must stay by property. `before`: what stood there before a person wrote, and was no person's. */
export interface CrmRecord extends ChaosRecord {
  /** Properties with a text that only a person could have written. */
  readonly theirs: Set<string>;
  readonly held: Set<string>;
  /** Words of a person that the register replaced: they gave them up, or a policy did. */
  readonly given: Map<string, PropertyValue>;
  /** Somebody made it the register's again, which nobody tells cvrsync: it is looked at with the next change, or if asked. */
  isUnseen: boolean;
}

export const PROPERTIES = {
  hubspot: { name: 'name', phone: 'phone', city: 'city' },
  salesforce: { name: 'Name', phone: 'Phone', city: 'BillingCity' },
} as const satisfies Readonly<Record<CrmName, object>>;

/** `text`: nobody else would write it. `register`: the register said it once. `blank`: nothing. */
export type Wording = 'text' | 'register' | 'blank';

/** `left out`: the property is not mapped. */
export type Policy = 'tracked' | 'always' | 'never' | 'left out';

/** What people write into, as it counts: the records that are linked, and properties with another policy than `tracked`. */
export interface Ruled extends Crms {
  readonly linked: ReadonlySet<CrmRecord>;
  /** By connection and property. */
  readonly policies: ReadonlyMap<string, Policy>;
}

export const policyOf = ({ policies }: Pick<Ruled, 'policies'>, crm: CrmName, property: string): Policy =>
  policies.get(`${crm} ${property}`) ?? 'tracked';

/** What people wrote into a linked record, by the policies in force. */
export function followPolicies(crms: Ruled, record: CrmRecord): void {
  const { crm, edits, theirs, held } = record;
  if (!crms.linked.has(record)) return;
  for (const property of [PROPERTIES[crm].name, PROPERTIES[crm].phone]) {
    if (held.has(property)) continue;
    const policy = policyOf(crms, crm, property);
    if (policy === 'never' || policy === 'left out') keepAsItIs(crms, record, [property]);
    else if (policy === 'always' && theirs.has(property)) {
      loseWords(record, property);
      record.isUnseen = true;
    }
    if (policy === 'always' || (policy === 'tracked' && !theirs.has(property))) edits.delete(property);
  }
}

/** A person writes into a property. */
export function writeByHand(
  crms: Ruled,
  record: CrmRecord,
  { property, value, wording }: { property: string; value: PropertyValue; wording: Wording },
): void {
  const { crm, id, edits, before, theirs, held } = record;
  const held0 = crms[crm].get(id)?.[property] ?? null;
  if (wording === 'text' && !edits.has(property)) before.set(property, held0);
  crms[crm].edit(id, { [property]: value });
  const group = togetherWith(crm, property);
  record.given.delete(property);
  if (wording === 'text') theirs.add(property);
  else {
    theirs.delete(property);
    before.delete(property);
    record.isUnseen = true;
  }
  if (wording === 'text' || group.some((each) => held.has(each))) keepAsItIs(crms, record, group);
  else for (const each of group) edits.delete(each);
  followPolicies(crms, record);
}

/** What stands in these properties stays. */
export function keepAsItIs(crms: Crms, { crm, id, edits }: CrmRecord, properties: readonly string[]): void {
  for (const property of properties) edits.set(property, crms[crm].get(id)?.[property] ?? null);
}

/** A property is the register's again, unless it holds a person's words. */
export function letGo(crms: Ruled, record: CrmRecord, property: string): void {
  const { crm, edits, held, theirs } = record;
  const group = togetherWith(crm, property);
  for (const each of group) held.delete(each);
  if (!group.some((each) => theirs.has(each))) for (const each of group) edits.delete(each);
  followPolicies(crms, record);
}

/** The register won: nothing of a person is left in a property. */
export function giveUp(crms: Ruled, record: CrmRecord, property: string): void {
  for (const each of togetherWith(record.crm, property)) {
    loseWords(record, each);
    record.before.delete(each);
  }
  letGo(crms, record, property);
}

/** A person's words are the register's to replace, and an undo may bring them back. */
function loseWords({ edits, theirs, given }: CrmRecord, property: string): void {
  const words = edits.get(property);
  if (theirs.delete(property) && words !== undefined) given.set(property, words);
}
