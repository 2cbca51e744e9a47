/** A PostgreSQL that fails over: a primary, a standby that has what the primary commits, and one address for whichever leads. */
import { type ChildProcess, execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { chown, rename, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { expect } from 'vitest';
import { initialise, launch, newPlace, type Place, quit, urlAt } from './postgres.ts';

export interface Cluster {
  /** URL of the maintenance database of the primary, whichever it is. */
  readonly url: string;
  /** Ends the primary as a crash does, and starts it again on what is on its disk. Resolves when it answers. */
  crash(): Promise<void>;
  /** Ends the primary for good and promotes the standby; resolves when that leads, and has a standby of its own. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

/** A server, its data and the folder of its socket. */
interface Member {
  readonly data: string;
  readonly socket: string;
  process: ChildProcess;
}

/** Starts both; everything that is committed is on the disks of two. */
export async function startCluster(): Promise<Cluster> {
  const place = newPlace();
  const address = path.join(place.folder, 'leader');
  const data = path.join(place.folder, 'data-0');
  const socket = await newFolder(place, 'socket-0');
  await initialise(place, data);
  let primary: Member = { data, socket, process: await launch(place, { data, socket }, SETTINGS) };
  await pointTo(address, primary);
  let members = 1;
  let standby = await addStandby(place, primary, members);
  return {
    url: urlAt(address),
    async crash() {
      await quit(primary.process);
      primary.process = await launch(place, primary, SETTINGS);
      await inStep(primary);
    },
    async failOver() {
      await quit(primary.process);
      rmSync(primary.data, { recursive: true, force: true });
      primary = standby;
      await ask(primary, 'select pg_promote()');
      await pointTo(address, primary);
      members += 1;
      standby = await addStandby(place, primary, members);
    },
    async stop() {
      await Promise.all([quit(primary.process), quit(standby.process)]);
      await place.remove();
    },
  };
}

/** Enough log for a standby that follows a copy, however busy the machine. */
const SETTINGS = ['wal_keep_size=1GB'];

/** Copies the primary while it runs, and lets the copy follow it; resolves when a commit waits for both. */
async function addStandby(place: Place, primary: Member, number: number): Promise<Member> {
  const data = path.join(place.folder, `data-${number}`);
  const socket = await newFolder(place, `socket-${number}`);
  const client = await connected(primary);
  await client.query("select pg_backup_start('standby', true)");
  await promisify(execFile)('cp', ['-a', primary.data, data], place.options);
  const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
  await client.end();
  rmSync(path.join(data, 'postmaster.pid'));
  // What the primary waits for is not what its standby, once promoted, has.
  for (const [name, text] of [
    ['backup_label', rows[0]?.labelfile ?? ''],
    ['standby.signal', ''],
    ['postgresql.auto.conf', ''],
  ] as const) {
    const file = path.join(data, name);
    rmSync(file, { force: true });
    writeFileSync(file, text);
    await give(place, file);
  }
  const follows = [...SETTINGS, `primary_conninfo=host=${primary.socket} user=postgres`];
  const standby = { data, socket, process: await launch(place, { data, socket }, follows) };
  await ask(primary, "alter system set synchronous_standby_names = '*'");
  await ask(primary, 'select pg_reload_conf()');
  await inStep(primary);
  return standby;
}

/** Resolves when the standby follows so closely that each commit waits for it. */
const inStep = (primary: Member): Promise<void> =>
  expect
    .poll(() => ask(primary, 'select sync_state from pg_stat_replication'), { timeout: 60_000, interval: 50 })
    .toEqual([{ sync_state: 'sync' }]);

/** A link that is swapped, as an address is that moves. */
async function pointTo(address: string, { socket }: Member): Promise<void> {
  await symlink(socket, `${address}.new`);
  await rename(`${address}.new`, address);
}

async function newFolder(place: Place, name: string): Promise<string> {
  const folder = path.join(place.folder, name);
  mkdirSync(folder);
  await give(place, folder);
  return folder;
}

async function give({ options: { uid, gid } }: Place, file: string): Promise<void> {
  if (uid !== undefined && gid !== undefined) await chown(file, uid, gid);
}

async function ask(member: Member, statement: string): Promise<readonly object[]> {
  const client = await connected(member);
  const { rows } = await client.query<object>(statement).finally(() => client.end());
  return rows;
}

async function connected({ socket }: Member): Promise<Client> {
  const client = new Client({ connectionString: urlAt(socket) });
  await client.connect();
  return client;
}
