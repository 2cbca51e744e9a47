/**
 * The accepted rules: what every daemon of a store decides by, whatever its file says. A file whose rules differ proposes a
 * change, which counts once it is accepted.
 */
import type { FieldName } from '../../../providers/fields.ts';
import { differingParts, readDaemons } from '../../runtime/daemons.ts';
import { mark } from '../../runtime/lanes/lanes.ts';
import { type AuditActor, recordAudit } from '../../runtime/operators/audit.ts';
import { readValue, writeValue } from '../../store/kv.ts';
import { type Db, engineOf, type Store, type Tx } from '../../store/store.ts';
import { markAll } from '../links/mark-all.ts';
import { areSame, changeId, changesBetween, type DecisionRules, type NamedRules, narrowed, rulesOf } from './rules.ts';

/** The rules of a connection as they were accepted. */
export interface AcceptedRules {
  readonly rules: DecisionRules;
  /** A person, or `first start`, `start` if nothing had to be asked. */
  readonly by: string;
  readonly at: number;
  /** No daemon has the connection: its records miss events until it is back. */
  readonly isOut?: true;
}

const PREFIX = 'rules:';
const keyOf = (name: string): string => `${PREFIX}${name}`;

// We wrote it.
const acceptedIn = (text: string): AcceptedRules => {
  const accepted: AcceptedRules = JSON.parse(text);
  return { ...accepted, rules: rulesOf(accepted.rules) };
};

/** The accepted rules of a connection; undefined before its first start. */
export async function readAccepted(db: Db, name: string): Promise<AcceptedRules | undefined> {
  const text = await readValue(db, keyOf(name));
  return text === undefined ? undefined : acceptedIn(text);
}

interface Followed {
  readonly text: string;
  readonly rules: DecisionRules;
}

/** The rules of each store's connections as they were read last in this process. */
const followed = new WeakMap<Store, Map<string, Followed>>();

/** The accepted rules of a connection as this process read them last. */
export const followedRules = (store: Store, name: string): DecisionRules | undefined =>
  followed.get(store)?.get(name)?.rules;

/** Reads which rules are accepted by now: one query by key. */
export async function followRules(store: Store, name: string): Promise<DecisionRules | undefined> {
  const text = await readValue(store.db, keyOf(name));
  const known = followed.get(store) ?? new Map<string, Followed>();
  followed.set(store, known);
  if (text === undefined) known.delete(name);
  else if (known.get(name)?.text !== text) known.set(name, { text, rules: acceptedIn(text).rules });
  return known.get(name)?.rules;
}

/** A connection that decides by the rules that are accepted now, until its work is done. */
export async function withRulesInForce<C extends NamedRules>(store: Store, crm: C): Promise<C> {
  const rules = await followRules(store, crm.name);
  return rules === undefined ? crm : { ...crm, ...rules };
}

/**
 * The mapped fields of each connection that a daemon has. Nobody accepts others before the transaction ends: the records of
 * its events are marked by these, or by the acceptance.
 */
export async function readMappedFields(tx: Tx): Promise<ReadonlyMap<string, ReadonlySet<FieldName>>> {
  const rows = await tx
    .selectFrom('kv')
    .select(['key', 'value'])
    .where('key', '>=', PREFIX)
    .where('key', '<', `${PREFIX}\u{10FFFF}`)
    .orderBy('key')
    .$if(engineOf(tx) === 'postgres', (query) => query.forShare())
    .execute();
  return new Map(
    rows.flatMap(({ key, value }) => {
      const { rules, isOut } = acceptedIn(value);
      return isOut === true ? [] : [[key.slice(PREFIX.length), new Set(rules.mapping.map(({ field }) => field))]];
    }),
  );
}

/** Where a connection's proposal is kept. */
export const proposalKey = (name: string): string => `proposal:${name}`;

/** Ends the proposal of a connection, where there is one. */
export const endProposal = async (tx: Tx, name: string): Promise<void> => {
  await tx.deleteFrom('kv').where('key', '=', proposalKey(name)).execute();
};

/** Has every daemon decide by these rules, and each active record decided anew. */
export async function acceptRules(tx: Tx, { name, ...given }: NamedRules, by: string, now: number): Promise<void> {
  const accepted: AcceptedRules = { rules: rulesOf(given), by, at: now };
  await writeValue(tx, keyOf(name), JSON.stringify(accepted), now);
  await endProposal(tx, name);
  await decideAnew(tx, name, now);
}

async function decideAnew(tx: Tx, name: string, now: number): Promise<void> {
  await markAll(tx, name, `sync:${name}`, now);
  await mark(tx, 'housekeeping', ['marking'], now);
}

/** Who accepts a change, and how they were asked. */
export interface Acceptance {
  readonly actor: AuditActor;
  readonly via: 'page' | 'command';
  /** The {@link changeId} that they saw; any where absent. */
  readonly seen?: string | undefined;
}

/** Accepts what a file proposes, for a person. False if there is nothing to accept, or not what they saw. */
export async function acceptProposed(
  tx: Tx,
  proposed: NamedRules,
  { actor, via, seen }: Acceptance,
  now: number,
): Promise<boolean> {
  const before = (await readAccepted(tx, proposed.name))?.rules;
  if (before === undefined || areSame(before, proposed)) return false;
  if (seen !== undefined && seen !== changeId(before, proposed)) return false;
  await acceptRules(tx, proposed, actor.name, now);
  const changes = changesBetween(before, proposed).map((change) => change.subject);
  const entry = { actor, via, action: 'config.apply', subject: proposed.name } as const;
  await recordAudit(tx, { ...entry, detail: { changes }, result: 'accepted' }, now);
  return true;
}

export interface StartOptions {
  readonly now: number;
  /** This daemon among those of the store. */
  readonly daemon?: string | undefined;
  /** Accepts whatever the file says. */
  readonly acceptedBy?: AuditActor | undefined;
}

/**
 * At start: accepts the rules of a new connection, and of the others what only makes cvrsync write less. What else a file
 * changes waits. While another daemon runs with another mapping only a person's word changes anything: the two would take
 * turns. A connection that is back is decided anew: it missed events.
 */
export async function acceptAtStart(
  tx: Tx,
  configured: readonly NamedRules[],
  { now, daemon, acceptedBy }: StartOptions,
): Promise<void> {
  const disputed = await disputedConnections(tx, daemon, now);
  await leaveOut(tx, new Set([...configured.map(({ name }) => name), ...disputed]), now);
  for (const proposed of configured) {
    const { name } = proposed;
    const accepted = await readAccepted(tx, name);
    if (accepted === undefined) {
      await acceptRules(tx, proposed, 'first start', now);
      continue;
    }
    const isAccepted =
      acceptedBy !== undefined && (await acceptProposed(tx, proposed, { actor: acceptedBy, via: 'command' }, now));
    if (isAccepted) continue;
    const less = disputed.has(name) ? accepted.rules : narrowed(accepted.rules, proposed);
    if (!areSame(less, accepted.rules)) await acceptRules(tx, { name, ...less }, 'start', now);
    else if (accepted.isOut === true) {
      const { isOut: _, ...back } = accepted;
      await writeValue(tx, keyOf(name), JSON.stringify(back), now);
      await decideAnew(tx, name, now);
    }
  }
}

/** Remembers that connections which no daemon has any more miss events. */
async function leaveOut(tx: Tx, names: ReadonlySet<string>, now: number): Promise<void> {
  for (const name of (await readMappedFields(tx)).keys()) {
    const accepted = names.has(name) ? undefined : await readAccepted(tx, name);
    if (accepted === undefined) continue;
    await writeValue(tx, keyOf(name), JSON.stringify({ ...accepted, isOut: true } satisfies AcceptedRules), now);
  }
}

/** The connections for which another running daemon has another mapping, or only one of the two has a mapping. */
export async function disputedConnections(db: Db, self: string | undefined, now: number): Promise<ReadonlySet<string>> {
  const daemons = self === undefined ? [] : await readDaemons(db, now);
  const mine = daemons.find(({ id }) => id === self)?.digests;
  if (mine === undefined) return new Set();
  const parts = daemons.filter(({ id }) => id !== self).flatMap(({ digests }) => differingParts(mine, digests));
  return new Set(parts.flatMap((part) => MAPPING_PART.exec(part)?.[1] ?? []));
}

/** As `config/digests.ts` names it. */
const MAPPING_PART = /^connector\.providers\.([\w-]+)\.mapping$/;
