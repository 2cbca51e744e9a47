/**
 * A backfill of two CRMs that is killed again and again, with the daemon beside it, while webhooks arrive and people delete,
 * merge and edit records. In the end links, the service's items and the CRMs agree, and no person's edit is lost.
 *
 * CVRSYNC_CHAOS_COMPANIES=100000 runs it at the size of a large CRM; what the register tells is about some of its
 * companies then.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { writePayload } from '../../src/protocol/payload.ts';
import { fullStatePayload } from '../../src/protocol/sample/company.ts';
import { randomFrom } from '../../src/protocol/sample/random.ts';
import { sampleCompanies } from '../../src/protocol/sample/stream.ts';
import { type Running, startCommand } from '../support/command.ts';
import { daemonWith } from '../support/daemon.ts';
import { type CrmName, configFor, startCrms, watchStore } from '../support/fixture.ts';
import { serveService } from '../support/service.ts';
import { newFolder, newStoreUrl } from '../support/stores.ts';
import { disagreements } from './agreement.ts';
import { CRM_NAMES, NUMBERS, openCrowd } from './crowd.ts';
import { foldSamples } from './fold.ts';
import { NIGHT, SEED, sizeOf } from './settings.ts';
import { postUntilTaken, samplesFor } from './storm.ts';
import { quiet } from './strikes.ts';

const size = sizeOf('COMPANIES', 60, 150);
/** The companies that the register tells of. */
const reported = Math.min(size, 3_000);
const isLarge = size > 2_000;
const KILLS = sizeOf('KILLS', 3, 10);
/** So many more items from one kill to the next. */
const STEP = isLarge ? ([size / 20, size / 8] as const) : ([size / 30, size / 12] as const);
const REGISTER_NAMES = { hubspot: 'cvr_name', salesforce: 'CVR_Name__c' } as const;
const MINUTES = 60_000;
const SECRET = 'the secret of the app';

test.runIf(NIGHT)(
  `a backfill that is killed ${KILLS} times, CVRSYNC_CHAOS_SEED=${SEED}`,
  { timeout: 60 * MINUTES },
  async () => {
    const random = randomFrom(SEED);
    const companies = sampleCompanies(SEED, size);
    const samples = samplesFor(SEED, reported, reported / 2);
    const last = foldSamples(samples);
    // What lies in a CRM before anybody connects it is not from this minute.
    let ago = 3_600_000;
    const now = (): number => Date.now() - ago;
    const crms = await startCrms({
      hubspot: { rate: { calls: 200, perMs: 1_000 }, now },
      salesforce: { rate: { calls: 100, perMs: 1_000 }, now },
    });
    const crowd = openCrowd(crms, companies, random);
    ago = 0;
    const service = await serveService();
    const url = await newStoreUrl('sqlite');
    const upstream = {
      baseUrl: service.url,
      accessKey: service.accessKey,
      // Slow enough for the small run to be killed in its middle.
      requestsPerMinute: isLarge ? 600_000 : size * 8,
    };
    const connections = Object.fromEntries(
      CRM_NAMES.map((crm) => [
        crm,
        {
          match: { property: NUMBERS[crm] },
          autoLink: true,
          pollMinutes: isLarge ? 0.5 : 0.02,
          reconcileHours: 0,
          ...(crm === 'hubspot' && { clientSecret: SECRET }),
        },
      ]),
    );
    const config = configFor(crms, url, { connections, upstream, leaseSeconds: isLarge ? 30 : 5 });
    const folder = newFolder();
    const file = join(folder, 'cvrsync.json');
    await writeFile(file, JSON.stringify(config));
    const daemon = await daemonWith(config);
    const startDaemon = async (): Promise<void> => {
      await daemon.start();
      // What HubSpot posts while the daemon is down, and to a port where it no longer listens, is lost.
      crms.hubspot.subscribe({ url: `${daemon.url}/providers/hubspot/webhook`, clientSecret: SECRET });
    };
    await startDaemon();
    const store = await watchStore(url);

    const run = (...args: readonly string[]): Running => startCommand([...args, '--config', file, '--json'], folder);
    const backfill = (crm: CrmName): Running => run('backfill', crm, '--yes', '--send-update');

    // The service: it tells the whole company if an update was asked for, and of changes as they come.
    const stop = new AbortController();
    const over = new AbortController();
    const post = (body: ReturnType<typeof writePayload>): Promise<void> =>
      postUntilTaken(() => daemon.url, JSON.stringify(body));
    let [seen, answered] = [0, 0];
    const asked = (change: string) => (change.endsWith('+update') ? last.get(change.split(' ')[2] ?? '') : undefined);
    const tellUpdates = async (): Promise<void> => {
      for (;;) {
        while (service.changes[seen] === undefined && !over.signal.aborted) await sleep(20);
        const change = service.changes[seen];
        if (change === undefined) return;
        seen += 1;
        const state = asked(change);
        if (state !== undefined) await post(writePayload(fullStatePayload(state.company, state.changedAt)));
        answered += 1;
      }
    };
    const queue = samples.values();
    const tellChanges = async (): Promise<void> => {
      for (const { payload } of queue) await post(writePayload(payload));
    };
    const people = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        crowd.act();
        await sleep(random.int(20, isLarge ? 60 : 120));
      }
    };

    const runs = { hubspot: backfill('hubspot'), salesforce: backfill('salesforce') };
    const atOnce = (work: () => Promise<void>): Promise<unknown> => Promise.all([work(), work(), work(), work()]);
    const telling = atOnce(tellUpdates);
    const changing = atOnce(tellChanges);
    const acting = people();

    let missed = false;
    for (let kills = 0; kills < KILLS; ) {
      const both = kills % 3 === 2;
      const struck = both ? CRM_NAMES : [random.pick(CRM_NAMES)];
      // In the middle of its work, or, where little is left to do, somewhere in the start.
      if (missed) await sleep(random.int(0, 1_000));
      else await Promise.race([progress(service, random.int(...STEP)), ...struck.map((name) => runs[name].ended)]);
      if (both || kills % 3 === 0) await daemon.kill('SIGKILL');
      const ended = await Promise.all(struck.map((name) => runs[name].kill('SIGKILL')));
      for (const { code, stderr } of ended) expect([null, 0, 3], stderr).toContain(code);
      // One that had just ended was not killed.
      missed = ended.every(({ code }) => code !== null);
      if (!missed) kills += 1;
      if (both) {
        await quiet(crms);
        crowd.edit(0.02);
      }
      if (daemon.url === undefined) await startDaemon();
      for (const name of struck) runs[name] = backfill(name);
    }
    await Promise.all(CRM_NAMES.map((crm) => ok(runs[crm])));
    stop.abort();
    await Promise.all([acting, changing]);

    // What people did to records that the first pass had seen already, a second one finds.
    await Promise.all(CRM_NAMES.map((crm) => ok(run('backfill', crm, '--yes', '--send-update', '--restart'))));
    await atRest();
    await minutesPass();
    await Promise.all(CRM_NAMES.map((crm) => ok(run('reconcile', crm, '--yes'))));
    await atRest();
    over.abort();
    await telling;

    expect(await disagreements(store, crowd, service)).toEqual([]);
    expect(crowd.lost()).toEqual([]);
    expect(await unfilled()).toEqual([]);
    expect([...crms.hubspot.calls, ...crms.salesforce.calls].filter(({ status }) => status === 429)).toEqual([]);
    expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });

    /** Reconcile does not judge links that were touched within a minute: lets it pass. */
    async function minutesPass(): Promise<void> {
      await store.write((tx) =>
        tx
          .updateTable('link')
          .set(({ eb }) => ({ updated_at: eb('updated_at', '-', 2 * MINUTES) }))
          .execute(),
      );
    }

    /**
     * Resolves when nothing is behind, and all updates were told. A person lets the links end that the safety limit holds, and
     * leaves what else is parked.
     */
    async function atRest(): Promise<void> {
      await expect
        .poll(
          async () => {
            const braked = await store.db.selectFrom('lane').select('queue').where('key', '=', '*').execute();
            await Promise.all(braked.map(({ queue }) => run('review', 'accept', `lane/${queue}/*`).ended));
            const reported = answered;
            const lanes = await store.db
              .selectFrom('lane')
              .select(['queue', 'key', 'error'])
              .where('parked_at', 'is', null)
              .where('queue', 'not in', ['housekeeping', 'poll'])
              // Due minutes after a write.
              .where('queue', 'not like', 'edits:%')
              .limit(5)
              .execute();
            return reported === service.changes.length ? lanes : [...lanes, 'updates to tell'];
          },
          { timeout: 10 * MINUTES, interval: 50 },
        )
        .toEqual([]);
    }

    /** Linked records that do not hold what the register says now; one in conflict is not written to before a person says. */
    async function unfilled(): Promise<readonly string[]> {
      const links = await store.db.selectFrom('link').selectAll().where('state', '=', 'active').execute();
      const linked = new Set(links.map(({ provider, record_id, entity }) => `${provider} ${record_id} ${entity}`));
      return CRM_NAMES.flatMap((crm) =>
        [...crowd.records(crm)].flatMap(([id, entity]) => {
          const isLinked = linked.has(`${crm} ${id} ${entity}`);
          const wanted = last.get(entity ?? '')?.company.name;
          const held = crms[crm].get(id)?.[REGISTER_NAMES[crm]];
          return !isLinked || wanted === undefined || held === wanted
            ? []
            : [`${crm} ${id} of ${entity} holds ${String(held)}, not ${wanted}`];
        }),
      );
    }
  },
);

/** Resolves when the service was told of so many more items, or when nothing happens for a while. */
async function progress(service: { readonly changes: readonly string[] }, more: number): Promise<void> {
  const until = service.changes.length + more;
  let [before, since] = [0, Date.now()];
  while (service.changes.length < until && Date.now() - since < 3_000) {
    if (service.changes.length > before) [before, since] = [service.changes.length, Date.now()];
    await sleep(10);
  }
}

async function ok(running: Running): Promise<void> {
  const { code, stderr } = await running.ended;
  expect([0, 3], stderr).toContain(code);
}
