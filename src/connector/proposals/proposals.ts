/** Proposals: what a file changes in the accepted rules, what that would write, and what became of it. */

import { readValue, writeValue } from '../../store/kv.ts';
import type { Db, Store, Tx } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { type AcceptedRules, proposalKey, readAccepted } from '../rules/accepted.ts';
import { areSame, changeId, changesBetween, type NamedRules, type RuleChange } from '../rules/rules.ts';
import { previewRules, type RulePair, type RulePreview } from './preview.ts';

/** A change that a file proposes for one connection. */
export interface RuleProposal extends RulePair {
  readonly name: string;
  readonly accepted: AcceptedRules;
  /** Names the change. */
  readonly id: string;
  readonly changes: readonly RuleChange[];
}

/** What the file of a connection proposes; undefined if it says what is accepted, and before the first start. */
export async function findProposal(db: Db, proposed: NamedRules): Promise<RuleProposal | undefined> {
  const { name } = proposed;
  const accepted = await readAccepted(db, name);
  if (accepted === undefined || areSame(accepted.rules, proposed)) return undefined;
  const pair = { before: accepted.rules, after: proposed };
  const id = changeId(pair.before, pair.after);
  return { name, accepted, ...pair, id, changes: changesBetween(pair.before, pair.after) };
}

/** A proposal as a daemon counted it last. */
export interface CountedProposal {
  /** The change's. */
  readonly id: string;
  readonly countedAt: number;
  /** Since when it waits. */
  readonly since: number;
  readonly preview?: RulePreview;
  /** Why it could not be counted. */
  readonly trouble?: string;
}

/** The proposal of a connection that waits, as it was counted last. */
export async function readCounted(db: Db, name: string): Promise<CountedProposal | undefined> {
  const text = await readValue(db, proposalKey(name));
  // We wrote it.
  return text === undefined ? undefined : JSON.parse(text);
}

/** All that wait, by connection. */
export async function readAllCounted(db: Db): Promise<readonly (CountedProposal & { readonly name: string })[]> {
  const rows = await db
    .selectFrom('kv')
    .select(['key', 'value'])
    .where('key', 'like', proposalKey('%'))
    .orderBy('key')
    .execute();
  return rows.map(({ key, value }) => ({ name: key.slice(proposalKey('').length), ...JSON.parse(value) }));
}

/** Keeps a count. Of the examples only if they are: whose they are and what stands there is read anew. */
export async function writeCounted(tx: Tx, name: string, counted: CountedProposal): Promise<void> {
  const examples = counted.preview?.examples.map((each) => ({ ...each, entity: '', before: null, after: null }));
  const kept = counted.preview && { ...counted, preview: { ...counted.preview, examples } };
  await writeValue(tx, proposalKey(name), JSON.stringify(kept ?? counted), counted.countedAt);
}

/** A count that is older is made anew. */
export const FRESH_MS = 3_600_000;

/**
 * What a proposal would write: as a daemon counted it within the hour, with its examples as they are now, else counted now.
 * Throws the CRM's fault.
 */
export async function previewProposal(
  deps: { readonly store: Store; readonly now: () => number },
  crm: Crm,
  proposal: RuleProposal,
  signal: AbortSignal,
): Promise<RulePreview> {
  const counted = await readCounted(deps.store.db, proposal.name);
  const isFresh = counted?.id === proposal.id && deps.now() - counted.countedAt < FRESH_MS;
  const known = isFresh ? counted.preview : undefined;
  if (known === undefined) return previewRules(deps, { ...proposal, crm }, signal);
  const ids = [...new Set(known.examples.map(({ record }) => record))];
  const { examples } = await previewRules(deps, { ...proposal, crm, ids }, signal);
  return { ...known, examples };
}
