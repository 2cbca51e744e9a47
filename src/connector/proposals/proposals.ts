/** Proposals: changes of the accepted rules in a file, and what they would write. */

import { mappingPart, readVersion } from '../../runtime/config-versions.ts';
import { type AuditActor, recordAudit } from '../../runtime/operators/audit.ts';
import { readValue, writeValue } from '../../store/kv.ts';
import type { Db, Store, Tx } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { LEFT } from '../links/left.ts';
import {
  type AcceptedRules,
  acceptRemoval,
  acceptRules,
  PROPOSALS,
  proposalKey,
  RULES,
  readAllAccepted,
} from '../rules/accepted.ts';
import {
  areSame,
  changeId,
  changesBetween,
  type DecisionRules,
  type NamedRules,
  type RuleChange,
  rulesDigest,
  rulesOf,
} from '../rules/rules.ts';
import { countLinks, previewRules, type RulePreview } from './preview.ts';

/** A change of one connection that waits for a person. */
export interface RuleProposal {
  readonly name: string;
  readonly accepted: AcceptedRules;
  readonly before: DecisionRules;
  /** Undefined: the connection is no longer configured. */
  readonly after: DecisionRules | undefined;
  readonly id: string;
  readonly changes: readonly RuleChange[];
  /** The former version that a rollback proposes; undefined if the file proposes it. */
  readonly version?: number | undefined;
  /** A rollback set these rules of the file aside: nobody is asked about them again. */
  readonly isAside: boolean;
}

/** What a file, or a rollback to a former version, changes in the accepted rules. Nothing before the first start. */
export async function findProposals(db: Db, file: readonly NamedRules[]): Promise<readonly RuleProposal[]> {
  const rollback = await readRollback(db);
  const proposals: RuleProposal[] = [];
  for (const [name, accepted] of await readAllAccepted(db)) {
    const stated = file.find((one) => one.name === name);
    const former = rollback?.rules.get(name);
    const after = stated === undefined ? undefined : (former ?? stated);
    const isSame = after === undefined ? accepted.isRemoved === true : areSame(accepted.rules, after);
    if (isSame) continue;
    proposals.push({
      ...{ name, accepted, before: accepted.rules, after: after && rulesOf(after) },
      id: changeId(accepted.rules, after),
      changes: after === undefined ? [REMOVAL] : changesBetween(accepted.rules, after),
      version: after !== undefined && after === former ? rollback?.version : undefined,
      isAside: after !== undefined && after !== former && accepted.aside === rulesDigest(after),
    });
  }
  return proposals;
}

/** All that is stored of rules, proposals and left connections, as one text: while it is the same, so are the proposals of a file. */
export async function readRuleState(db: Db): Promise<string> {
  const rows = await db
    .selectFrom('kv')
    .select(['key', 'value'])
    .where((eb) =>
      eb.or([
        eb('key', '=', ROLLBACK),
        ...[LEFT, RULES, PROPOSALS].map((prefix) =>
          eb.and([eb('key', '>=', prefix), eb('key', '<', `${prefix}\u{10FFFF}`)]),
        ),
      ]),
    )
    .orderBy('key')
    .execute();
  return JSON.stringify(rows);
}

const REMOVAL: RuleChange = { subject: 'connection', before: 'configured', after: undefined };

/** What of these is to be answered. */
export const isWaiting = ({ isAside }: RuleProposal): boolean => !isAside;

/** Accepts what a person saw of one connection. Undefined if there is nothing to accept, or not what they saw. */
export async function acceptProposal(
  tx: Tx,
  file: readonly NamedRules[],
  { name, seen, by }: { readonly name: string; readonly seen?: string | undefined; readonly by: string },
  now: number,
): Promise<RuleProposal | undefined> {
  const proposal = (await findProposals(tx, file)).find((one) => one.name === name);
  if (proposal === undefined || (seen !== undefined && seen !== proposal.id)) return undefined;
  const { after, version } = proposal;
  if (after === undefined) await acceptRemoval(tx, name, { by, now });
  else {
    const stated = file.find((one) => one.name === name);
    const aside = version === undefined || stated === undefined ? undefined : rulesDigest(stated);
    await acceptRules(tx, { name, ...after }, { by, now, aside });
  }
  const left = await findProposals(tx, file);
  if (version !== undefined && left.every((one) => one.version !== version)) await endRollback(tx);
  return proposal;
}

/** Accepts all that a file proposes, for whoever starts a daemon with it. */
export async function acceptAll(tx: Tx, file: readonly NamedRules[], actor: AuditActor, now: number): Promise<void> {
  await endRollback(tx);
  for (const { name } of await findProposals(tx, file)) {
    const accepted = await acceptProposal(tx, file, { name, by: actor.name }, now);
    if (accepted !== undefined) await recordAudit(tx, { actor, via: 'command', ...auditOf(accepted) }, now);
  }
}

/** The entry of an acceptance in the audit. */
export const auditOf = ({ name, changes, version }: RuleProposal) => ({
  action: 'config.apply',
  subject: name,
  detail: { changes: changes.map(({ subject }) => subject), version },
  result: 'accepted',
});

const ROLLBACK = 'rollback';

interface Rollback {
  readonly version: number;
  readonly rules: ReadonlyMap<string, DecisionRules>;
}

/** Proposes the rules of a former version, in place of what the file says. */
export const proposeVersion = (tx: Tx, version: number, now: number): Promise<void> =>
  writeValue(tx, ROLLBACK, String(version), now);

/** Withdraws a rollback that was not accepted. */
export const endRollback = async (tx: Tx): Promise<void> => {
  await tx.deleteFrom('kv').where('key', '=', ROLLBACK).execute();
};

async function readRollback(db: Db): Promise<Rollback | undefined> {
  const version = await readValue(db, ROLLBACK);
  const former = version === undefined ? undefined : await readVersion(db, Number(version));
  if (former === undefined) return undefined;
  const parts = former.content['connector'] ?? {};
  const names = (await readAllAccepted(db)).keys();
  const rules = [...names].flatMap((name): readonly (readonly [string, DecisionRules])[] => {
    const part = parts[mappingPart(name)];
    // We wrote it: rules that were accepted.
    return part === undefined ? [] : [[name, rulesOf(part as DecisionRules)]];
  });
  return { version: former.id, rules: new Map(rules) };
}

/** The last count of a proposal by a daemon. */
export interface CountedProposal {
  readonly id: string;
  readonly countedAt: number;
  readonly since: number;
  readonly preview?: RulePreview;
  readonly trouble?: string;
}

export async function readCounted(db: Db, name: string): Promise<CountedProposal | undefined> {
  const text = await readValue(db, proposalKey(name));
  return text === undefined ? undefined : JSON.parse(text);
}

export async function readAllCounted(db: Db): Promise<readonly (CountedProposal & { readonly name: string })[]> {
  const rows = await db
    .selectFrom('kv')
    .select(['key', 'value'])
    .where('key', 'like', proposalKey('%'))
    .orderBy('key')
    .execute();
  return rows.map(({ key, value }) => ({ name: key.slice(proposalKey('').length), ...JSON.parse(value) }));
}

/** Stores a count. Of examples it stores only the record and property: companies and values are read again. */
export async function writeCounted(tx: Tx, name: string, counted: CountedProposal): Promise<void> {
  const examples = counted.preview?.examples.map((each) => ({ ...each, entity: '', before: null, after: null }));
  const stored = counted.preview && { ...counted, preview: { ...counted.preview, examples } };
  await writeValue(tx, proposalKey(name), JSON.stringify(stored ?? counted), counted.countedAt);
}

/** An older count is repeated. */
export const FRESH_MS = 3_600_000;

/** A count by a daemon within the hour, with current examples, otherwise a new one. Throws a fault of the CRM. */
export async function previewProposal(
  deps: { readonly store: Store; readonly now: () => number },
  openCrm: () => Promise<Crm>,
  proposal: RuleProposal,
  signal: AbortSignal,
): Promise<RulePreview> {
  const { name, before, after } = proposal;
  if (after === undefined) return removalPreview(deps.store.db, name);
  const counted = await readCounted(deps.store.db, name);
  const isFresh = counted?.id === proposal.id && deps.now() - counted.countedAt < FRESH_MS;
  const known = isFresh ? counted.preview : undefined;
  const crm = await openCrm();
  if (known === undefined) return previewRules(deps, { before, after, crm }, signal);
  const ids = [...new Set(known.examples.map(({ record }) => record))];
  const { examples } = await previewRules(deps, { before, after, crm, ids }, signal);
  return { ...known, examples };
}

/** What the removal of a connection means: it writes nothing, and its records get no updates any more. */
export const removalPreview = async (db: Db, name: string): Promise<RulePreview> => ({
  ...{ linked: await countLinks(db, name), read: 0, unread: 0, properties: [], examples: [] },
  removes: true,
});
