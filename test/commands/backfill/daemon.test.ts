/** The command beside a daemon that works on the same account: one rate limit, and the newer value of each property. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renamed } from '../../faults/company.ts';
import { startCommand } from '../../support/command.ts';
import { daemonWith } from '../../support/daemon.ts';
import { serveService } from '../../support/service.ts';
import { configFor, lanesBehind, postWebhook, startCrms, watchStore } from '../../support/stage.ts';
import { ENGINES, newFolder, newStoreUrl } from '../../support/stores.ts';

const RATE = { calls: 20, perMs: 1_000 };
const PER_MINUTE = 3_000;
const RECORDS = 200;
const entity = (at: number): string => `CVR-1-${20_000_000 + at}`;

describe.each(ENGINES)('a backfill beside a daemon on %s', (engine) => {
  it('never exceeds the limits of the account together, and loses no value', { timeout: 90_000 }, async () => {
    const crms = await startCrms({ hubspot: { rate: RATE } });
    const { hubspot } = crms;
    const service = await serveService();
    const store = await newStoreUrl(engine);
    const match = { match: { property: 'cvr_number' } };
    const upstream = { baseUrl: service.url, accessKey: service.accessKey, requestsPerMinute: PER_MINUTE };
    const config = configFor(crms, store, { connections: { hubspot: match }, upstream, leaseSeconds: 5 });
    const folder = newFolder();
    writeFileSync(join(folder, 'cvrsync.json'), JSON.stringify(config));
    const ids = Array.from({ length: RECORDS }, (_, at) =>
      // Every third was named by a person, whom nobody may overwrite.
      hubspot.add({ cvr_number: String(20_000_000 + at), ...(at % 3 === 0 && { name: `Kaldt ${at}` }) }),
    );
    const daemon = await daemonWith(config);
    await daemon.start();
    const began = performance.now();
    const running = startCommand(['--config', 'cvrsync.json', '--json', 'backfill', 'hubspot'], folder);

    // The service tells of companies meanwhile, of linked ones and of those that are not yet.
    for (const [at] of ids.entries()) {
      expect(await postWebhook(`${daemon.url}/webhook`, renamed(null, `Register ${at}`, 8, entity(at)))).toBe(204);
    }
    const { code, stdout, stderr } = await running.ended;
    const seconds = (performance.now() - began) / 1_000;
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('"level":50')]);
    expect(JSON.parse(stdout)).toMatchObject({ ended: 'done', linked: RECORDS, monitored: RECORDS, person: 0 });

    const watched = await watchStore(store);
    await expect.poll(() => lanesBehind(watched), { timeout: 60_000, interval: 100 }).toEqual([]);
    const held = ids.map((id) => hubspot.get(id)?.['name']);
    expect(held).toEqual(ids.map((_, at) => (at % 3 === 0 ? `Kaldt ${at}` : `Register ${at}`)));
    expect(service.items('hubspot')).toEqual(expect.arrayContaining(ids.map((id, at) => `${entity(at)} ${id}`)));
    expect(service.changes).toHaveLength(RECORDS);
    expect(service.requests.length).toBeLessThanOrEqual(1 + (seconds * PER_MINUTE) / 60);
    expect(hubspot.calls.filter(({ status }) => status >= 400)).toEqual([]);
    // By the emulator's own count, and by ours: no window holds more calls than it may.
    const times = hubspot.calls.map(({ at }) => at).toSorted((a, b) => a - b);
    const fullest = Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + RATE.perMs).length));
    expect(fullest).toBeLessThanOrEqual(RATE.calls);
    expect(await daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });
});
