/**
 * Several daemons on one PostgreSQL, each with the service and the connector, that are killed and frozen beyond their leases
 * while the database ends their sessions, has no connection left, crashes and fails over to its standby. The clocks of the
 * daemons are a minute apart. Both CRMs and all who listen end with what the register says.
 *
 * CVRSYNC_CHAOS_DAEMONS=8 has eight; CVRSYNC_CHAOS_STRIKES=40 so many strikes; CVRSYNC_CHAOS_BEFORE=PATH begins with a daemon of
 * the version before, which comes back as one of this version if it is killed. `npm run chaos` repeats it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { randomFrom } from '../../src/protocol/sample/random.ts';
import { type Daemon, daemonWith } from '../support/daemon.ts';
import { createDatabase } from '../support/postgres.ts';
import { type Cluster, startCluster } from '../support/postgres-cluster.ts';
import { openChain } from './chain.ts';
import { SEED, sizeOf } from './settings.ts';

const DAEMONS = sizeOf('DAEMONS', 2, 2);
const STRIKES = sizeOf('STRIKES', 6, 12);
const BEFORE = process.env['CVRSYNC_CHAOS_BEFORE'];
const SKEW_MS = 60_000;
const MINUTES = 60_000;

const KINDS = ['kill', 'freeze', 'end sessions', 'exhaust', 'crash', 'fail over'] as const;
type Kind = (typeof KINDS)[number];

test(`${DAEMONS} daemons, ${STRIKES} strikes, CVRSYNC_CHAOS_SEED=${SEED}`, { timeout: 30 * MINUTES }, async () => {
  const random = randomFrom(SEED);
  const server = await startCluster();
  onTestFinished(() => server.stop());
  const url = await createDatabase(server.url);
  const daemons: Daemon[] = [];
  const options = { seed: SEED, companies: 8, changes: 15 * STRIKES, listeners: 20, faults: 2 };
  const startFirst = async (config: object) => {
    const daemon = await daemonWith(config, [], BEFORE);
    daemons.push(daemon);
    await daemon.start();
  };
  const chain = await openChain(url, { ...options, ...(BEFORE !== undefined && { startFirst }) }, random);
  const before = daemons.length;
  for (let at = before; at < DAEMONS; at += 1)
    daemons.push(await daemonWith(chain.config, clockAhead(Math.round((SKEW_MS * at) / (DAEMONS - 1)))));
  await Promise.all(daemons.slice(before).map((daemon) => daemon.start()));
  await chain.begin();

  const done = new Map<Kind, number>();
  const strikes = (async () => {
    for (let at = 0; at < STRIKES; at += 1) {
      // Each kind once, then any.
      const kind = KINDS[at] ?? random.pick(KINDS);
      await sleep(random.int(50, 400));
      await strike(kind, random.pick([...daemons] as [Daemon, ...Daemon[]]), { server, url });
      done.set(kind, (done.get(kind) ?? 0) + 1);
    }
  })();
  await Promise.all([strikes, chain.tellRest(() => {})]);
  await chain.atRest();
  for (const daemon of daemons) expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  await chain.verify();

  const { hubspot, salesforce } = chain.crms;
  const posts = [...chain.receiver.posts.values()].flat().filter(({ taken }) => taken);
  const figures = {
    daemons: DAEMONS,
    strikes: Object.fromEntries(done),
    lines: chain.lines,
    posts: posts.length,
    repeated: posts.length - new Set(posts.map(({ id }) => id)).size,
    calls: hubspot.calls.length + salesforce.calls.length,
  };
  process.stderr.write(`chaos ${JSON.stringify(figures)}\n`);
});

async function strike(
  kind: Kind,
  daemon: Daemon,
  { server, url }: { readonly server: Cluster; readonly url: string },
): Promise<void> {
  switch (kind) {
    case 'kill':
      await daemon.kill('SIGKILL');
      return startAgain(daemon);
    case 'freeze':
      daemon.signal('SIGSTOP');
      await sleep(FREEZE_MS);
      return daemon.signal('SIGCONT');
    case 'end sessions':
      return ask(server, 'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()');
    case 'exhaust':
      return exhaust(url);
    case 'crash':
      return server.crash();
    case 'fail over':
      return server.failOver();
  }
}

/** As a supervisor does: again if the database did not answer in time. */
async function startAgain(daemon: Daemon): Promise<void> {
  while (daemon.url === undefined)
    await daemon.start().catch((error: unknown) => {
      if (!String(error).includes('cannot be reached')) throw error;
    });
}

/** Longer than a lease of the chain's. */
const FREEZE_MS = 5_500;

async function ask(server: Cluster, statement: string): Promise<void> {
  const client = new Client({ connectionString: server.url });
  // A session that is ended says so to the one who asked, too.
  client.on('error', () => {});
  await client.connect();
  await client.query(statement);
  await client.end();
}

/** Takes every connection that is left, and gives them back after a while. */
async function exhaust(url: string): Promise<void> {
  const clients: Client[] = [];
  for (let isLeft = true; isLeft; ) {
    const client = new Client({ connectionString: url });
    client.on('error', () => {});
    isLeft = await client.connect().then(
      () => true,
      () => false,
    );
    if (isLeft) clients.push(client);
  }
  await sleep(1_000);
  await Promise.all(clients.map((client) => client.end()));
}

/** Options of Node under which its clock is so far ahead of the machine's. */
function clockAhead(ms: number): readonly string[] {
  const code = `const Real = Date; globalThis.Date = class extends Real {
    constructor(...args) { super(...(args.length === 0 ? [Real.now() + ${ms}] : args)); }
    static now() { return Real.now() + ${ms}; }
  };`;
  return ms === 0 ? [] : ['--import', `data:text/javascript,${encodeURIComponent(code)}`];
}
