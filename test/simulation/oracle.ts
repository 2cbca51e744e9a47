/**
 * What must be so once the faults are over: a model of its own, which knows the register, what people did and what the
 * promises say, and nothing of how the program decides. Every function returns what is wrong, as sentences.
 */
import type { SampleCompany } from '../../src/protocol/sample/company.ts';
import type { Last } from '../chaos/fold.ts';
import { differences, RESPELL } from '../chaos/records.ts';
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
export function wrongNotices({ receiver, companies }: World): readonly string[] {
  const wrong: string[] = [];
  const posts = Map.groupBy(firstOfEach(receiver.posts, wrong), ({ entity }) => entity);
  for (const [entity, known] of companies)
    for (const event of Object.keys(FOLLOWED)) wrong.push(...wrongChain(posts.get(entity) ?? [], event, known));
  return wrong;
}

function wrongChain(posts: readonly Post[], event: string, { first, company }: RegisterCompany): readonly string[] {
  const of = FOLLOWED[event] ?? (() => undefined);
  const wrong: string[] = [];
  let known = of(first);
  for (const { id, entity, updates } of posts) {
    const change = changeIn(updates, event);
    if (change === undefined) continue;
    if (change.before !== known)
      wrong.push(`${entity} ${event}: ${id} goes from ${change.before}, and ${known} was known`);
    known = change.after;
  }
  if (known !== of(company))
    wrong.push(`${company.entityId} ${event}: ${known} was told, and the register says ${of(company)}`);
  return wrong;
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

function changeIn(updates: Post['updates'], event: string): { before: unknown; after: unknown } | undefined {
  const found = Object.entries(updates).find(([name]) => name === event)?.[1];
  return typeof found === 'object' && found !== null && 'before' in found && 'after' in found
    ? { before: found.before, after: found.after }
    : undefined;
}
