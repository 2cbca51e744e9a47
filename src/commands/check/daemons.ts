/** Checks whether the daemons on the store run with the configuration that `check` reads. */
import { configDigests } from '../../config/digests.ts';
import type { Config } from '../../config/load.ts';
import { neededRoles } from '../../config/schema/roles.ts';
import { aheadOf } from '../../runtime/clock-watch.ts';
import { readVersion } from '../../runtime/config-versions.ts';
import { differingParts, readDaemons, saltOf } from '../../runtime/daemons.ts';
import type { Findings } from '../../runtime/finding.ts';
import type { Store } from '../../store/store.ts';

const subject = 'daemons';

/** A finding if the store holds times that this machine's clock has not reached. */
export async function clockFindings({ db }: Store, now: number): Promise<Findings> {
  const ahead = await aheadOf(db, now);
  if (ahead === undefined) return [];
  const { waiting } = await db
    .selectFrom('lane')
    .select((eb) => eb.fn.countAll().as('waiting'))
    .where('due_at', '>', now)
    .where('due_at', '<=', ahead.last)
    .executeTakeFirstOrThrow();
  const [last, seconds] = [new Date(ahead.last).toISOString().slice(0, 19), Math.round(ahead.ms / 1_000)];
  return [
    {
      level: 'warn',
      subject: 'clock',
      found: `the store's last time is ${last}Z, ${seconds} s ahead of this machine's clock; ${waiting} lanes wait for a time before it`,
      advice: 'set the clock by NTP; after a restart the daemon takes up the waiting work',
    },
  ];
}

export async function daemonFindings(store: Store, config: Config): Promise<Findings> {
  const daemons = await readDaemons(store.db, Date.now());
  if (daemons.length === 0) return [{ level: 'info', subject, found: 'none runs on this store' }];
  const idle = neededRoles(config).filter((role) => !daemons.some(({ roles }) => roles.includes(role)));
  const undone = idle.map((role) => ({
    level: 'warn' as const,
    subject: 'roles',
    found: `no running daemon has the role ${role}`,
    advice: `start one with ${role} among its roles`,
  }));
  const digests = await configDigests(config, await saltOf(store, Date.now()));
  const differing = daemons
    .map((daemon) => ({ ...daemon, parts: differingParts(digests, daemon.digests) }))
    .filter(({ parts }) => parts.length > 0);
  if (differing.length === 0) {
    const running = daemons.length === 1 ? '1 runs' : `${daemons.length} run`;
    return [{ level: 'ok', subject, found: `${running} with this configuration` }, ...undone];
  }
  const differ = differing.map(({ name, startedAt, parts }) => ({
    level: 'warn' as const,
    subject,
    found: `${name}, started ${new Date(startedAt).toISOString().slice(0, 19)}Z, differs from this file in ${parts.join(', ')}`,
    advice: 'give every daemon of a store the same configuration, and restart the daemons with an old one',
  }));
  return [...differ, ...undone];
}

/** A finding for each daemon whose file differs from the accepted configuration, and for this file. */
export async function acceptedFindings(store: Store, config: Config): Promise<Findings> {
  const version = await readVersion(store.db);
  if (version === undefined) return [];
  const own = { name: 'this file', digests: await configDigests(config, await saltOf(store, Date.now())) };
  return [own, ...(await readDaemons(store.db, Date.now()))].flatMap(({ name, digests }) => {
    const parts = differingParts(version.digests, digests);
    if (parts.length === 0) return [];
    const found = `${name} differs from the accepted configuration (version ${version.id}) in ${parts.join(', ')}`;
    return [
      { level: 'info' as const, subject: 'configuration', found, advice: 'cvrsync config diff shows what waits' },
    ];
  });
}
