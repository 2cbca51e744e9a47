/** The command beside a daemon that works on the same account: one rate limit, and the newer value of each property. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { renamed } from '../../faults/company.ts';
import { startCommand } from '../../support/command.ts';
import { cvrNumber } from '../../support/cvr-numbers.ts';
import { daemonWith } from '../../support/daemon.ts';
import { configFor, lanesBehind, postWebhook, startCrms, watchStore } from '../../support/fixture.ts';
import { serveService } from '../../support/service.ts';
import { newFolder, newStoreUrl, SUITE_ENGINES } from '../../support/stores.ts';
import { untilNone } from '../../support/until-none.ts';

/** A window as long as HubSpot's own: in one of a second a call that a busy machine makes 20 ms late is one too many. */
const RATE = { calls: 200, perMs: 10_000 };
const SERVICE_CALLS_A_SECOND = 30;
const RECORDS = 200;
/** Records without a number, which only make the scan longer: the account's limit is reached on the way. */
const OTHERS = 1_500;
const NOTED = 'CVR-1-95012353';
const entity = (at: number): string => `CVR-1-${cvrNumber(at)}`;

/** The most calls in any window of the account's rate. */
const fullest = (times: readonly number[]): number =>
  Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + RATE.perMs).length));

describe.each(SUITE_ENGINES)('a backfill beside a daemon on %s', (engine) => {
  it('never exceeds the limits of the account together with it, and loses no value', async () => {
    const crms = await startCrms({ hubspot: { rate: RATE } });
    const { hubspot } = crms;
    const service = await serveService();
    const store = await newStoreUrl(engine);
    // A note is a call of its own: with one for each webhook the daemon alone uses up what the account allows.
    const connection = { match: { property: 'cvr_number' }, notes: ['name'] };
    const requestsPerMinute = SERVICE_CALLS_A_SECOND * 60;
    const upstream = { baseUrl: service.url, accessKey: service.accessKey, requestsPerMinute };
    const config = configFor(crms, store, { connections: { hubspot: connection }, upstream, leaseSeconds: 5 });
    const folder = newFolder();
    writeFileSync(join(folder, 'cvrsync.json'), JSON.stringify(config));
    const ids = Array.from({ length: RECORDS }, (_, at) =>
      // Every third was named by a person, whom nobody may overwrite.
      hubspot.add({ cvr_number: cvrNumber(at), ...(at % 3 === 0 && { name: `Kaldt ${at}` }) }),
    );
    for (let at = 0; at < OTHERS; at++) hubspot.add({ name: `Uden nummer ${at}` });
    const noted = hubspot.add({});
    const daemon = await daemonWith(config);
    await daemon.start();
    const watched = await watchStore(store);
    await watched.write((tx) =>
      linkRecord(tx, { provider: 'hubspot', recordId: noted, entity: NOTED, sendUpdate: false, now: Date.now() }),
    );
    const post = async (payload: ReturnType<typeof renamed>): Promise<void> => {
      expect(await postWebhook(`${daemon.url}/webhook`, payload)).toBe(204);
    };
    const stop = new AbortController();
    const keepBusy = async (): Promise<void> => {
      for (let at = 1; !stop.signal.aborted; at++) {
        await post(renamed(`Navn ${at - 1}`, `Navn ${at}`, at, NOTED));
        await sleep(RATE.perMs / RATE.calls);
      }
    };
    const busy = keepBusy();
    const notes = (): readonly number[] =>
      hubspot.calls.filter(({ path }) => path.includes('/notes')).map(({ at }) => at);
    await expect.poll(() => notes().length).toBeGreaterThan(3);
    const running = startCommand(['--config', 'cvrsync.json', '--json', 'backfill', 'hubspot', '--yes'], folder);

    // The service tells of companies meanwhile, of linked ones and of those that are not yet.
    for (const [at] of ids.entries()) await post(renamed(null, `Register ${at}`, 8, entity(at)));
    const { code, stdout, stderr } = await running.ended;
    stop.abort();
    await busy;
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('"level":"error"')]);
    expect(JSON.parse(stdout)).toMatchObject({ ended: 'done', linked: RECORDS, observed: RECORDS, person: 0 });
    // The daemon did the work; the command only looked at the account first.
    const { calls } = JSON.parse(stdout);
    expect([calls.crm < 5, calls.service]).toEqual([true, 0]);

    await untilNone(() => lanesBehind(watched));
    const held = ids.map((id) => hubspot.get(id)?.['name']);
    expect(held).toEqual(ids.map((_, at) => (at % 3 === 0 ? `Kaldt ${at}` : `Register ${at}`)));
    expect(service.items('hubspot')).toEqual(expect.arrayContaining(ids.map((id, at) => `${entity(at)} ${id}`)));
    // One more for the record that was linked before.
    expect(service.changes).toHaveLength(RECORDS + 1);
    expect(hubspot.calls.filter(({ status }) => status >= 400)).toEqual([]);
    // By the emulator's own count, and by ours: no window holds more calls than it may.
    const times = hubspot.calls.map(({ at }) => at);
    expect(fullest(times)).toBeLessThanOrEqual(RATE.calls);
    // The service counts by the minute, so that some calls may be late by half a second. The first was long before.
    const [from = 0, ...others] = service.times.slice(1);
    const seconds = (Math.max(...others) - from) / 1_000;
    expect(others.length).toBeLessThanOrEqual((seconds + 1) * SERVICE_CALLS_A_SECOND);
    // Both were at work at the same time, or all this says nothing.
    const scans = hubspot.calls.filter(({ path }) => path.includes('/companies?')).map(({ at }) => at);
    const [first = 0, last = 0] = [Math.min(...scans), Math.max(...scans)];
    expect(notes().filter((at) => at > first && at < last).length).toBeGreaterThan(scans.length / 3);
    expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });
});
