/**
 * The accepted rules, by which every daemon of a store decides. A file with other rules proposes a change, which counts
 * once it is accepted.
 */
import { fieldsOf } from '../../../providers/composed.ts';
import type { FieldName } from '../../../providers/fields.ts';
import { acceptMapping, connectionOfPart } from '../../runtime/config-versions.ts';
import { differingParts, readDaemons } from '../../runtime/daemons.ts';
import { mark } from '../../runtime/lanes/lanes.ts';
import { readValue, writeValue } from '../../store/kv.ts';
import { type Db, engineOf, type Store, type Tx } from '../../store/store.ts';
import { activeRecords } from '../links/links.ts';
import { markAll } from '../links/mark-all.ts';
import { areSame, type DecisionRules, type NamedRules, narrowed, rulesDigest, rulesOf } from './rules.ts';

export interface AcceptedRules {
  readonly rules: DecisionRules;
  /** A person, `first start`, or `start` if the change needed no question. */
  readonly by: string;
  readonly at: number;
  /** No daemon has the connection, so its records miss events. */
  readonly isOut?: true;
  /** Somebody accepted that the connection is not configured any more. */
  readonly isRemoved?: true;
  /** The digest of a file's rules that a rollback set aside: they count only if a person accepts them. */
  readonly aside?: string | undefined;
}

/** Of the keys of accepted rules in `kv`. */
export const RULES = 'rules:';
const rulesKey = (name: string): string => `${RULES}${name}`;

const acceptedIn = (text: string): AcceptedRules => {
  const accepted: AcceptedRules = JSON.parse(text);
  return { ...accepted, rules: rulesOf(accepted.rules) };
};

/** The accepted rules of every connection by name, also of those that no daemon has. */
export async function readAllAccepted(db: Db): Promise<ReadonlyMap<string, AcceptedRules>> {
  const rows = await rulesQuery(db).execute();
  return new Map(rows.map(({ key, value }) => [key.slice(RULES.length), acceptedIn(value)]));
}

const rulesQuery = (db: Db) =>
  db
    .selectFrom('kv')
    .select(['key', 'value'])
    .where('key', '>=', RULES)
    .where('key', '<', `${RULES}\u{10FFFF}`)
    .orderBy('key');

/** Undefined before the first start of the connection. */
async function readAccepted(db: Db, name: string): Promise<AcceptedRules | undefined> {
  const text = await readValue(db, rulesKey(name));
  return text === undefined ? undefined : acceptedIn(text);
}

interface CachedRules {
  readonly text: string;
  readonly rules: DecisionRules;
}

/** The last rules that this process read, by store and connection. */
const followed = new WeakMap<Store, Map<string, CachedRules>>();

export const followedRules = (store: Store, name: string): DecisionRules | undefined =>
  followed.get(store)?.get(name)?.rules;

export async function followRules(store: Store, name: string): Promise<DecisionRules | undefined> {
  const text = await readValue(store.db, rulesKey(name));
  const known = followed.get(store) ?? new Map<string, CachedRules>();
  followed.set(store, known);
  if (text === undefined) known.delete(name);
  else if (known.get(name)?.text !== text) known.set(name, { text, rules: acceptedIn(text).rules });
  return known.get(name)?.rules;
}

/** The connection with the rules that are accepted now, fixed until its work is done. */
export async function withRulesInForce<C extends NamedRules>(store: Store, crm: C): Promise<C> {
  const rules = await followRules(store, crm.name);
  return rules === undefined ? crm : { ...crm, ...rules };
}

/**
 * The mapped fields of each connection of a daemon. No acceptance commits before this transaction ends, so either this
 * or the acceptance marks the records of its events.
 */
export async function readMappedFields(tx: Tx): Promise<ReadonlyMap<string, ReadonlySet<FieldName>>> {
  const rows = await rulesQuery(tx)
    .$if(engineOf(tx) === 'postgres', (query) => query.forShare())
    .execute();
  return new Map(
    rows.flatMap(({ key, value }) => {
      const { rules, isOut } = acceptedIn(value);
      return isOut === true ? [] : [[key.slice(RULES.length), new Set(fieldsOf(rules.mapping))]];
    }),
  );
}

/** Of the keys of counted proposals in `kv`. */
export const PROPOSALS = 'proposal:';

export const proposalKey = (name: string): string => `${PROPOSALS}${name}`;

export const endProposal = async (tx: Tx, name: string): Promise<void> => {
  await tx.deleteFrom('kv').where('key', '=', proposalKey(name)).execute();
};

/** Makes the rules binding for every daemon, and marks each active record to be decided again. */
export async function acceptRules(
  tx: Tx,
  { name, ...given }: NamedRules,
  { by, now, aside }: { readonly by: string; readonly now: number; readonly aside?: string | undefined },
): Promise<void> {
  const rules = rulesOf(given);
  await writeAccepted(tx, name, { rules, by, at: now, aside }, now);
  await endProposal(tx, name);
  await acceptMapping(tx, name, rules, { by, now });
  await markAllRecords(tx, name, now);
}

const writeAccepted = (tx: Tx, name: string, accepted: AcceptedRules, now: number): Promise<void> =>
  writeValue(tx, rulesKey(name), JSON.stringify(accepted), now);

/** Accepts that a connection is not configured any more. Its rules stay for when it comes back. */
export async function acceptRemoval(
  tx: Tx,
  name: string,
  { by, now }: { readonly by: string; readonly now: number },
): Promise<void> {
  const accepted = await readAccepted(tx, name);
  if (accepted === undefined) return;
  await writeAccepted(tx, name, { ...accepted, isOut: true, isRemoved: true }, now);
  await endProposal(tx, name);
  await acceptMapping(tx, name, undefined, { by, now });
}

async function markAllRecords(tx: Tx, name: string, now: number): Promise<void> {
  await markAll(tx, name, `sync:${name}`, now);
  await mark(tx, 'housekeeping', ['marking'], now);
}

export interface StartOptions {
  readonly now: number;
  readonly daemon?: string | undefined;
}

/**
 * At start: accepts the rules of a new connection, and changes that only reduce writes. Other changes wait. While
 * another daemon runs with another mapping, only a person changes anything: the daemons would alternate. The records of
 * a returning connection are decided again, since they missed events.
 */
export async function acceptAtStart(
  tx: Tx,
  configured: readonly NamedRules[],
  { now, daemon }: StartOptions,
): Promise<void> {
  const disputed = await disputedConnections(tx, daemon, now);
  await markAbsentConnections(tx, new Set([...configured.map(({ name }) => name), ...disputed]), now);
  for (const proposed of configured) {
    const { name } = proposed;
    const accepted = await readAccepted(tx, name);
    if (accepted === undefined) {
      await acceptRules(tx, proposed, { by: 'first start', now });
      continue;
    }
    const { isOut, isRemoved, ...back } = accepted;
    const isKept = disputed.has(name) || accepted.aside === rulesDigest(proposed);
    const less = isKept ? accepted.rules : narrowed(accepted.rules, proposed);
    if (!areSame(less, accepted.rules)) await acceptRules(tx, { name, ...less }, { by: 'start', now });
    // A removal that a person accepted stays while a daemon's file still names the connection, and another's does not.
    else if (isOut === true && !(isRemoved === true && disputed.has(name))) {
      await writeAccepted(tx, name, back, now);
      if (isRemoved === true) await acceptMapping(tx, name, back.rules, { by: 'start', now });
      await markAllRecords(tx, name, now);
    }
  }
}

/** Remembers that connections without a daemon miss events. */
async function markAbsentConnections(tx: Tx, names: ReadonlySet<string>, now: number): Promise<void> {
  for (const [name, accepted] of await readAllAccepted(tx)) {
    if (names.has(name) || accepted.isRemoved === true) continue;
    const [linked] = await activeRecords(tx, { provider: name, after: '', limit: 1 });
    if (linked === undefined) await acceptRemoval(tx, name, { by: 'start', now });
    else if (accepted.isOut !== true) await writeAccepted(tx, name, { ...accepted, isOut: true }, now);
  }
}

/** Connections that another running daemon maps differently, or that only one of the two maps. */
export async function disputedConnections(db: Db, self: string | undefined, now: number): Promise<ReadonlySet<string>> {
  const daemons = self === undefined ? [] : await readDaemons(db, now);
  const mine = daemons.find(({ id }) => id === self)?.digests;
  if (mine === undefined) return new Set();
  const parts = daemons.filter(({ id }) => id !== self).flatMap(({ digests }) => differingParts(mine, digests));
  return new Set(parts.flatMap((part) => connectionOfPart(part.slice(part.indexOf('.') + 1)) ?? []));
}
