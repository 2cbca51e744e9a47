/**
 * What must be so once the faults are over: a model of its own, which knows the register, what people did and what the
 * promises say, and nothing of how the program decides. Every function returns what is wrong, as sentences.
 */
import type { SampleCompany } from '../../src/protocol/sample/company.ts';
import type { Last } from '../chaos/fold.ts';
import { differences, RESPELL, togetherWith } from '../chaos/records.ts';
import type { CrmName } from '../support/fixture.ts';
import { PROPERTIES, policyOf } from './people.ts';
import type { Post } from './receiver.ts';
import type { RegisterCompany, World } from './world.ts';

/** Each mapped group of each linked record: the register's value, or what a person made of it. */
export function wrongRecords({ hubspot, salesforce, companies, linked }: World): readonly string[] {
  const last = new Map([...companies].map(([entity, { company }]): [string, Last] => [entity, lastOf(company)]));
  // The time of a change is the sender's business: see the chain of the chaos tests.
  const options = { respell: RESPELL, but: ['registerChangedAt'] } as const;
  return differences({ hubspot, salesforce }, [...linked], last, options);
}

const lastOf = (company: SampleCompany): Last => ({ company: { ...company, report: null }, changedAt: '' });

/** The fields that a receiver can follow by one value each. */
const FOLLOWED: Readonly<Record<string, (company: SampleCompany) => unknown>> = {
  name: ({ name }) => name,
  phoneNumber: ({ phoneNumber }) => phoneNumber,
  email: ({ email }) => email,
  fax: ({ fax }) => fax,
  website: ({ website }) => website,
  purpose: ({ purpose }) => purpose,
  status: ({ status }) => status,
};

/** What the receiver was told adds up: each value follows from the one before, and the last is the register's. */
export function wrongNotices({ receiver, companies }: Pick<World, 'receiver' | 'companies'>): readonly string[] {
  const wrong: string[] = [];
  const posts = firstOfEach(receiver.posts, wrong);
  const bodies = new Map<string, string>();
  for (const { id, body } of posts) {
    const before = bodies.get(body);
    if (before !== undefined) wrong.push(`${id} says what ${before} said: ${body.slice(0, 100)}`);
    bodies.set(body, id);
  }
  for (const [entity, own] of Map.groupBy(posts, ({ entity }) => entity)) {
    const known = companies.get(entity);
    for (const event of new Set(own.flatMap(({ updates }) => Object.keys(updates))))
      wrong.push(...wrongChain(own, event, known));
  }
  for (const [entity, { first, company }] of companies)
    for (const [event, of] of Object.entries(FOLLOWED))
      if (of(first) !== of(company) && !posts.some((post) => post.entity === entity && event in post.updates))
        wrong.push(`${entity} ${event}: the register says ${of(company)}, and nothing was told`);
  return wrong;
}

/** A value without the register's times: a time alone is no change. */
const asTold = (value: unknown): string =>
  JSON.stringify(value, (name, part) => (name === 'lastUpdated' ? undefined : part));

function wrongChain(posts: readonly Post[], event: string, company: RegisterCompany | undefined): readonly string[] {
  const of = FOLLOWED[event];
  const wrong: string[] = [];
  let known = of === undefined || company === undefined ? undefined : asTold(of(company.first));
  for (const { id, entity, updates } of posts) {
    const change = changeIn(updates, event);
    if (change === undefined) continue;
    const before = asTold(change.before);
    if (known !== undefined && before !== known)
      wrong.push(`${entity} ${event}: ${id} goes from ${before}, and ${known} was known`);
    known = asTold(change.after);
  }
  const last = of === undefined || company === undefined ? known : asTold(of(company.company));
  if (known !== last) wrong.push(`${company?.company.entityId} ${event}: ${known} was told, the register says ${last}`);
  return wrong;
}

/** What a person wrote into a linked record, and nobody holds, waits in review. */
export function unlistedEdits(
  {
    linked,
    companies,
    hubspot,
    salesforce,
    policies,
  }: Pick<World, 'linked' | 'companies' | 'hubspot' | 'salesforce' | 'policies'>,
  listed: readonly { readonly provider: string; readonly recordId: string; readonly property: string }[],
): readonly string[] {
  const names = new Set(listed.map(({ provider, recordId, property }) => `${provider} ${recordId} ${property}`));
  const missing = [...linked].flatMap((record) =>
    [...record.theirs]
      // A field that the register never stated differs from nothing.
      .filter(
        (property) =>
          property !== PROPERTIES[record.crm].phone || companies.get(record.entity)?.company.phoneNumber != null,
      )
      .filter((property) => policyOf({ policies }, record.crm, property) === 'tracked')
      .map((property) => togetherWith(record.crm, property))
      .filter((group) => !group.some((each) => record.held.has(each)))
      .filter((group) => !group.some((each) => names.has(`${record.crm} ${record.id} ${each}`)))
      .map(([property]) => `${record.crm} ${record.id} ${property}`),
  );
  const crms = { hubspot, salesforce };
  const gone = listed.flatMap(({ provider, recordId, property }) => {
    const record = [...linked].find(({ crm, id }) => crm === provider && id === recordId);
    const isTheirs = record === undefined || groupWith(record.crm, property).some((each) => record.theirs.has(each));
    return isTheirs ? [] : [`${provider} ${recordId} ${property}: ${crms[record.crm].get(recordId)?.[property]}`];
  });
  return [
    ...missing.map((each) => `${each} is a person's, and is not in review`),
    ...gone.map((each) => `${each} is in review, and nobody wrote it`),
  ];
}

/** The properties that are decided with this one. */
function groupWith(crm: CrmName, property: string): readonly string[] {
  const address = togetherWith(crm, PROPERTIES[crm].city);
  return address.includes(property) ? address : [property];
}

/** The service watches the company of each linked record. */
export function unwatched(
  linked: World['linked'],
  items: readonly { readonly entity: string; readonly record_id: string }[],
): readonly string[] {
  const watched = new Set(items.map(({ entity, record_id }) => `${entity} ${record_id}`));
  const lost = [...linked].filter(({ entity, id }) => !watched.has(`${entity} ${id}`));
  return lost.map(({ crm, id, entity }) => `${crm} ${id} of ${entity} is linked, and the service does not watch it`);
}

/** Repeats say the same as the first. */
function firstOfEach(posts: readonly Post[], wrong: string[]): readonly Post[] {
  const first = new Map<string, Post>();
  for (const post of posts) {
    const before = first.get(post.id);
    if (before === undefined) first.set(post.id, post);
    else if (before.body !== post.body) wrong.push(`${post.id} came with two bodies`);
  }
  return [...first.values()];
}

export function changeIn(updates: Post['updates'], event: string): { before: unknown; after: unknown } | undefined {
  const found = Object.entries(updates).find(([name]) => name === event)?.[1];
  return typeof found === 'object' && found !== null && 'before' in found && 'after' in found
    ? { before: found.before, after: found.after }
    : undefined;
}
