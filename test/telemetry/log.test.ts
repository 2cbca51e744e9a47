/** The log of the real daemon: what a line says, and what names a webhook, its event and its write. */
import { describe, expect, it } from 'vitest';
import { linkRecord } from '../../src/connector/links/links.ts';
import { readVersion } from '../../src/version.ts';
import { ENTITY, renamed } from '../faults/company.ts';
import { daemonWith } from '../support/daemon.ts';
import { configFor, postWebhook, startCrms } from '../support/fixture.ts';
import { type ENGINES, newStoreUrl, opened, SUITE_ENGINES } from '../support/stores.ts';

interface Line {
  readonly level: string;
  readonly time: string;
  readonly msg: string;
  readonly request?: string;
  readonly requests?: readonly string[];
  readonly written?: readonly string[];
}

/** A daemon that logs from a level on, with a record that follows a company. */
async function scene(engine: (typeof ENGINES)[number], logLevel: string) {
  const crms = await startCrms();
  const url = await newStoreUrl(engine);
  const daemon = await daemonWith({ ...configFor(crms, url), logLevel });
  await daemon.start();
  const store = await opened(url);
  const recordId = crms.hubspot.add({ name: 'Havblik ApS' });
  await store.write((tx) =>
    linkRecord(tx, { provider: 'hubspot', recordId, entity: ENTITY, sendUpdate: false, now: Date.now() }),
  );
  const lines = (): readonly Line[] => daemon.log.map((line) => JSON.parse(line));
  return {
    crms,
    url,
    lines,
    said: (msg: string) => lines().filter((line) => line.msg === msg),
    /** The register changes the name, and the record follows. */
    async rename(name: string, hour: number, headers?: Readonly<Record<string, string>>) {
      expect(await postWebhook(`${daemon.url}/webhook`, renamed('Havblik ApS', name, hour), headers)).toBe(204);
      await expect.poll(() => crms.hubspot.get(recordId)?.['name']).toBe(name);
    },
    timeline: async () => await store.db.selectFrom('receipt').select(['webhook_id', 'digest']).execute(),
  };
}

describe.each(SUITE_ENGINES)('the log, on %s', (engine) => {
  it('names level and time, and at the start version, store and roles', async () => {
    const { lines, said, url } = await scene(engine, 'info');
    const [ready] = said('ready');
    expect(ready).toMatchObject({ level: 'info', version: readVersion(), roles: ['ingest', 'sync', 'service'] });
    const { password } = new URL(url, 'file:');
    expect(ready).toHaveProperty('store', password === '' ? url : url.replace(`:${password}@`, ':***@'));
    for (const { time } of lines()) expect(new Date(time).toISOString()).toBe(time);
  });

  it('names a webhook, its event and its write by one id: the one that the sender gave, or one that is made', async () => {
    const { rename, said, timeline } = await scene(engine, 'debug');
    await rename('Havblik A/S', 8, { 'webhook-id': 'msg_7' });
    await rename('Havblik Holding A/S', 9);
    // A record may be looked at once more, since it was linked just before: that writes nothing.
    const synced = () => said('a record was synced').filter(({ written = [] }) => written.includes('name'));
    await expect.poll(synced).toHaveLength(2);
    const answered = said('a webhook was answered').map(({ request }) => request);
    expect(answered).toEqual(['msg_7', expect.stringMatching(/^[\w-]{43}$/u)]);
    expect(said('an event was read').map(({ request }) => request)).toEqual(answered);
    expect(synced().map(({ requests }) => requests)).toEqual(answered.map((request) => [request]));
    expect((await timeline()).map(({ webhook_id, digest }) => webhook_id ?? digest)).toEqual(answered);
    expect(said('a property was decided')).toEqual([]);
  });

  it('shows at trace the work and the decisions, too, and no value at any level', async () => {
    const { rename, lines, said } = await scene(engine, 'trace');
    await rename('Havblik A/S', 8);
    await expect.poll(() => said('span sync').length).toBeGreaterThan(0);
    const spans = new Set(lines().flatMap(({ msg }) => (msg.startsWith('span ') ? [msg.slice(5)] : [])));
    expect([...spans]).toEqual(expect.arrayContaining(['webhook', 'apply', 'sync', 'crm']));
    expect(said('span apply')).toContainEqual(expect.objectContaining({ level: 'trace', 'cvrsync.events': 1 }));
    await expect
      .poll(() => said('a property was decided'))
      .toContainEqual(expect.objectContaining({ property: 'name', rule: 'register' }));
    expect(JSON.stringify(lines())).not.toContain('Havblik');
  });
});
