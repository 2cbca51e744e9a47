/** A webhook that is sent as a test: it shows what it would do, and writes nothing. */
import { describe, expect, it } from 'vitest';
import { readAudit } from '../../src/runtime/operators/audit.ts';
import { startFixture } from '../support/fixture.ts';
import { SUITE_ENGINES } from '../support/stores.ts';

const COMPANY = 'CVR-1-10000001';
const TEST = { 'webhook-test': 'true' };
const renamed = (after: string) => ({
  entityId: COMPANY,
  timestamp: '2026-03-01T09:14:02Z',
  updates: {
    name: { updated: true, before: 'Birk ApS', after },
    phoneNumber: { updated: true, before: '11111111', after: '10203040' },
  },
});

describe.each(SUITE_ENGINES)('a test on %s', (engine) => {
  it('shows the properties that it would write and keep, without changing the CRM or the store', async () => {
    const fixture = await startFixture({ engine });
    const { store } = fixture.app;
    const record = await fixture.addLinked('hubspot', COMPANY, { name: 'Birk ApS', phone: '+4599999999' });
    await fixture.settled();
    const before = await fixture.history(record);
    expect(await fixture.post(renamed('WRITTEN BY A TEST'), { ...TEST, 'webhook-id': 'msg_1' })).toBe(204);
    await fixture.settled();
    expect(fixture.hubspot.get(record)).toMatchObject({ name: 'Birk ApS' });
    for (const table of ['arrival', 'receipt', 'fact'] as const)
      expect(await store.db.selectFrom(table).selectAll().execute(), table).toEqual([]);
    expect(await fixture.history(record)).toEqual(before);
    const [entry] = await readAudit(store.db, { action: 'webhook.test' }, 5);
    expect(entry).toMatchObject({ actor: { kind: 'sender' }, via: 'api', subject: COMPANY });
    expect(entry?.result).toMatch(
      new RegExp(`^a test, so nothing was written; hubspot:${record} would get .*name.* and would keep phone`),
    );
    expect(entry?.result).not.toContain('WRITTEN BY A TEST');

    // The event that is meant comes later, under the same id.
    expect(await fixture.post(renamed('Birk Byg ApS'), { 'webhook-id': 'msg_1' })).toBe(204);
    await fixture.settled();
    expect(fixture.hubspot.get(record)).toMatchObject({ name: 'Birk Byg ApS' });
  });

  it('with an invalid payload, or beyond ten in a minute, stores nothing', async () => {
    const { post, app } = await startFixture({ engine });
    expect(await post('{', TEST)).toBe(400);
    expect(await post('{}', TEST)).toBe(400);
    const rows = () => app.store.db.selectFrom('quarantine').selectAll().execute();
    expect(await rows()).toEqual([]);
    for (let each = 0; each < 12; each++) expect(await post(renamed('x'), TEST)).toBe(204);
    expect(await readAudit(app.store.db, { action: 'webhook.test' }, 50)).toHaveLength(10);
    const text = await (await fetch(`${app.adminUrl}/metrics`)).text();
    expect(text).toContain('cvrsync_webhooks_received_total{result="test"} 14');
  });
});
