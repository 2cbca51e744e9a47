/**
 * The daemons on one store. Each keeps a row with the digests of its configuration and renews it; from these rows each
 * tells when another one runs with a configuration that differs.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { readValue } from '../store/kv.ts';
import { readGaps, writeSeen } from '../store/recovery/gap.ts';
import type { Db, Store, Tx } from '../store/store.ts';
import { createClockWatch, recordClock } from './clock-watch.ts';
import { releaseDead } from './lanes/release.ts';
import { pause } from './pause.ts';
import type { StoreWatch } from './store-watch.ts';

/** Digest by part, for each half of a daemon. */
export type Digests = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface Daemon {
  readonly id: string;
  /** Host and process. */
  readonly name: string;
  readonly startedAt: number;
  readonly seenAt: number;
  readonly digests: Digests;
  /** Which work it does. */
  readonly roles: readonly string[];
}

/** How often a daemon renews its row. */
const BEAT_MS = 10_000;
/** A daemon that was not seen for longer does not run, or stands still. */
const LIVE_MS = 3 * BEAT_MS + 5_000;

const SALT = 'daemons:salt';

/** The daemons that run, oldest first. */
export async function readDaemons(db: Db, now: number): Promise<readonly Daemon[]> {
  const rows = await db
    .selectFrom('daemon')
    .selectAll()
    .where('seen_at', '>', now - LIVE_MS)
    .orderBy('started_at')
    .orderBy('id')
    .execute();
  return rows.map(({ id, name, started_at, seen_at, digests, roles }) => {
    // We wrote it.
    return { id, name, startedAt: started_at, seenAt: seen_at, digests: JSON.parse(digests), roles: roles.split(' ') };
  });
}

/** The roles that each half needs, all daemons together. */
const ROLES_OF: Readonly<Record<string, readonly string[]>> = { connector: ['ingest', 'sync'], service: ['service'] };

/** Whether a running daemon has the role, for each role that their configurations need. */
export function livingRoles(daemons: readonly Pick<Daemon, 'digests' | 'roles'>[]): ReadonlyMap<string, boolean> {
  const needed = daemons.flatMap(({ digests }) => Object.keys(digests).flatMap((half) => ROLES_OF[half] ?? []));
  return new Map(needed.map((role) => [role, daemons.some(({ roles }) => roles.includes(role))]));
}

/** Sets the gauge of the roles that no running daemon has. */
export async function measureRoles(
  db: Db,
  gauge: { reset(): void; set(labels: { readonly role: string }, value: number): void },
  now: number,
): Promise<void> {
  const roles = livingRoles(await readDaemons(db, now));
  gauge.reset();
  for (const [role, isLiving] of roles) gauge.set({ role }, isLiving ? 0 : 1);
}

/** The parts in which two configurations differ, `connector.providers.hubspot`; of a half that only one has, none. */
export function differingParts(one: Digests, other: Digests): readonly string[] {
  return Object.keys(one)
    .filter((half) => other[half] !== undefined)
    .flatMap((half) => {
      const [mine, theirs] = [one[half] ?? {}, other[half] ?? {}];
      const parts = [...new Set([...Object.keys(mine), ...Object.keys(theirs)])].toSorted();
      return parts.filter((part) => mine[part] !== theirs[part]).map((part) => `${half}.${part}`);
    });
}

/** What the digests of this store are salted with; made where it is not there. */
export async function saltOf(store: Store, now: number): Promise<string> {
  const known = await readValue(store.db, SALT);
  if (known !== undefined) return known;
  return store.write(async (tx) => {
    const value = randomBytes(24).toString('base64url');
    await tx
      .insertInto('kv')
      .values({ key: SALT, value, updated_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return (await readValue(tx, SALT)) ?? value;
  });
}

export interface JoinOptions {
  readonly store: Store;
  readonly digests: Digests;
  readonly roles: readonly string[];
  readonly now: () => number;
  readonly log: { info(details: object, message: string): void; warn(details: object, message: string): void };
  readonly metrics: { readonly differingDaemons: { set(count: number): void } };
  /** How often to renew the row, in ms; 10 s where absent. */
  readonly beatMs?: number;
  /** Sees each renewal. */
  readonly watch: StoreWatch;
}

export interface DaemonMembership {
  /** This daemon's, among those of the store. */
  readonly id: string;
  /** Host and process. */
  readonly name: string;
  /** Says that the daemon runs with another configuration from now on. */
  renew(digests: Digests): Promise<void>;
  /** Takes the row away. */
  leave(): Promise<void>;
}

/** Enters a daemon that holds the store's claim, and renews its row until it leaves. */
export async function joinDaemons({ store, roles, now, ...rest }: JoinOptions): Promise<DaemonMembership> {
  const { log, metrics, watch, beatMs = BEAT_MS } = rest;
  let { digests } = rest;
  const id = randomUUID();
  const startedAt = now();
  const name = `${hostname()} ${process.pid}`;
  const row = (): Row => ({
    id,
    name,
    started_at: startedAt,
    digests: JSON.stringify(digests),
    roles: roles.join(' '),
  });
  const told = new Map<string, string>();
  const over = new AbortController();
  const freed = await releaseDead(store, startedAt);
  if (freed > 0) log.info({ lanes: freed }, 'took up the work of a daemon that ended without a word');
  const lookAtClock = createClockWatch({ store, now, log, beatMs });
  await lookAtClock();
  // Nobody else runs on a file that is claimed: what is left there is of one that ended without a word.
  if (store.engine === 'sqlite') await store.write((tx) => tx.deleteFrom('daemon').execute());
  await beat(store, row(), now());
  await warnOfGaps(store.db, log);

  async function look(): Promise<void> {
    await store.claimDaemon();
    await lookAtClock();
    await beat(store, row(), now());
    const others = await readDaemons(store.db, now());
    const differing = others
      // Seen since we are here: one that had crashed before us is still there for a while.
      .filter((other) => other.id !== id && other.seenAt > startedAt)
      .map((other) => ({ ...other, parts: differingParts(digests, other.digests) }))
      .filter(({ parts }) => parts.length > 0);
    metrics.differingDaemons.set(differing.length);
    for (const other of differing) {
      if (told.has(other.id)) continue;
      told.set(other.id, other.name);
      const since = new Date(Math.max(startedAt, other.startedAt)).toISOString();
      log.warn(
        { daemon: other.name, since, differs: other.parts },
        'another daemon on this store runs with another configuration: give both the same, and restart the one that is old',
      );
    }
    for (const [other, name] of told) {
      if (differing.some((each) => each.id === other)) continue;
      told.delete(other);
      log.info({ daemon: name }, 'the daemon on this store that had another configuration is gone');
    }
  }

  const beating = (async () => {
    for (;;) {
      await pause(beatMs, over.signal);
      if (over.signal.aborted) return;
      // Where the store does not answer, the row is there again with the next beat.
      await watch.probe(look);
    }
  })();
  return {
    ...{ id, name },
    async renew(next) {
      digests = next;
      await store.write((tx) => renewRow(tx, row(), now()));
    },
    async leave() {
      over.abort();
      await beating;
      await store.write((tx) => removeRow(tx, id, now())).catch(() => undefined);
    },
  };
}

/** Renews the row, and says in the store and then in the marker beside it that all until now is there. */
async function beat(store: Store, row: Row, at: number): Promise<void> {
  await store.write(async (tx) => {
    await renewRow(tx, row, at);
    if (store.engine === 'sqlite') await writeSeen(tx, at);
  });
  store.noteSeen(at);
}

async function warnOfGaps(db: Db, log: JoinOptions['log']): Promise<void> {
  for (const { since, until, cause, askedAt } of await readGaps(db))
    if (askedAt === undefined)
      log.warn(
        { since: new Date(since).toISOString(), until: new Date(until).toISOString(), cause },
        'the store holds nothing of this time: cvrsync check says what to do',
      );
}

type Row = Readonly<Record<'id' | 'name' | 'digests' | 'roles', string>> & { readonly started_at: number };

async function renewRow(tx: Tx, row: Row, now: number): Promise<void> {
  await tx
    .insertInto('daemon')
    .values({ ...row, seen_at: now })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at: now, digests: row.digests }))
    .execute();
  await tx
    .deleteFrom('daemon')
    .where('seen_at', '<', now - LIVE_MS)
    .execute();
  await recordClock(tx, now);
}

async function removeRow(tx: Tx, id: string, now: number): Promise<void> {
  await tx.deleteFrom('daemon').where('id', '=', id).execute();
  await recordClock(tx, now);
}
