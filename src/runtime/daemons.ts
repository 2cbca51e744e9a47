/**
 * The daemons on one store. Each renews a row with the digests of its configuration, and warns if another daemon's
 * digests differ.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { readValue } from '../store/kv.ts';
import { readGaps, writeSeen } from '../store/recovery/gap.ts';
import type { Db, Store, Tx } from '../store/store.ts';
import { createClockWatch, recordClock } from './clock-watch.ts';
import { releaseDead } from './lanes/release.ts';
import { pause } from './limits/pause.ts';
import type { StoreWatch } from './store-watch.ts';

export type Digests = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface Daemon {
  readonly id: string;
  readonly name: string;
  readonly startedAt: number;
  readonly seenAt: number;
  readonly digests: Digests;
  readonly roles: readonly string[];
}

const BEAT_MS = 10_000;
/** A daemon that was not seen for longer has ended or is frozen. */
const LIVE_MS = 3 * BEAT_MS + 5_000;

const SALT = 'daemons:salt';

export async function readDaemons(db: Db, now: number): Promise<readonly Daemon[]> {
  const rows = await db
    .selectFrom('daemon')
    .selectAll()
    .where('seen_at', '>', now - LIVE_MS)
    .orderBy('started_at')
    .orderBy('id')
    .execute();
  return rows.map(({ id, name, started_at, seen_at, digests, roles }) => {
    // {@link renewRow} wrote it.
    return { id, name, startedAt: started_at, seenAt: seen_at, digests: JSON.parse(digests), roles: roles.split(' ') };
  });
}

const ROLES_OF: Readonly<Record<string, readonly string[]>> = { connector: ['ingest', 'sync'], service: ['service'] };

export function livingRoles(daemons: readonly Pick<Daemon, 'digests' | 'roles'>[]): ReadonlyMap<string, boolean> {
  const needed = daemons.flatMap(({ digests }) => Object.keys(digests).flatMap((half) => ROLES_OF[half] ?? []));
  return new Map(needed.map((role) => [role, daemons.some(({ roles }) => roles.includes(role))]));
}

export async function measureRoles(
  db: Db,
  gauge: { reset(): void; set(labels: { readonly role: string }, value: number): void },
  now: number,
): Promise<void> {
  const roles = livingRoles(await readDaemons(db, now));
  gauge.reset();
  for (const [role, isLiving] of roles) gauge.set({ role }, isLiving ? 0 : 1);
}

/**
 * The parts in which two configurations differ, such as `connector.providers.hubspot`. Ignores a half that only one of
 * them has.
 */
export function differingParts(one: Digests, other: Digests): readonly string[] {
  return Object.keys(one)
    .filter((half) => other[half] !== undefined)
    .flatMap((half) => {
      const [mine, theirs] = [one[half] ?? {}, other[half] ?? {}];
      const parts = [...new Set([...Object.keys(mine), ...Object.keys(theirs)])].toSorted();
      return parts.filter((part) => mine[part] !== theirs[part]).map((part) => `${half}.${part}`);
    });
}

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
  /** 10 s by default. */
  readonly beatMs?: number;
  readonly watch: StoreWatch;
}

export interface DaemonMembership {
  readonly id: string;
  readonly name: string;
  renew(digests: Digests): Promise<void>;
  leave(): Promise<void>;
}

/** Registers a daemon that holds the store's claim, and renews its row until it leaves. */
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
  const warned = new Map<string, string>();
  const over = new AbortController();
  const freed = await releaseDead(store, startedAt);
  if (freed > 0) log.info({ lanes: freed }, 'took up the work of a daemon that crashed');
  const checkClock = createClockWatch({ store, now, log, beatMs });
  await checkClock();
  // Nobody else uses a claimed file: any other row belongs to a crashed daemon.
  if (store.engine === 'sqlite') await store.write((tx) => tx.deleteFrom('daemon').execute());
  await beat(store, row(), now());
  await warnOfGaps(store.db, log);

  async function renewAndCompare(): Promise<void> {
    await store.claimDaemon();
    await checkClock();
    await beat(store, row(), now());
    const others = await readDaemons(store.db, now());
    const differing = others
      // Ignores rows of daemons that crashed before this one started.
      .filter((other) => other.id !== id && other.seenAt > startedAt)
      .map((other) => ({ ...other, parts: differingParts(digests, other.digests) }))
      .filter(({ parts }) => parts.length > 0);
    metrics.differingDaemons.set(differing.length);
    for (const other of differing) {
      if (warned.has(other.id)) continue;
      warned.set(other.id, other.name);
      const since = new Date(Math.max(startedAt, other.startedAt)).toISOString();
      log.warn(
        { daemon: other.name, since, differs: other.parts },
        'another daemon on this store runs with another configuration: give both the same configuration, and restart the outdated one',
      );
    }
    for (const [other, name] of warned) {
      if (differing.some((each) => each.id === other)) continue;
      warned.delete(other);
      log.info({ daemon: name }, 'the daemon on this store that had another configuration is gone');
    }
  }

  const beating = (async () => {
    for (;;) {
      await pause(beatMs, over.signal);
      if (over.signal.aborted) return;
      // If the store does not answer, the next beat writes the row again.
      await watch.probe(renewAndCompare);
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

/** Renews the row, and records in the store and then in the marker file that the store is complete until now. */
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
        'the store lost the writes of this period: run cvrsync check for the remedy',
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
