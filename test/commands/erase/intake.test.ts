/** What stays out of the store after an erasure: texts that others write, of work, alerts, mail servers and operators. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { startAlerts } from '../../../src/alerts/alerts.ts';
import { insertReceipts } from '../../../src/connector/intake/receipt.ts';
import { noteReusedIds } from '../../../src/connector/intake/reused-ids.ts';
import { UNDO } from '../../../src/connector/undo/undo-task.ts';
import { claim, mark, park, settle } from '../../../src/runtime/lanes/lanes.ts';
import { startSession } from '../../../src/runtime/operators/sessions.ts';
import { endRun, requestPreview } from '../../../src/runtime/runs/runs.ts';
import { createKey } from '../../../src/service/keys/keys.ts';
import { endMail } from '../../../src/service/mail/stopped-mails.ts';
import { createMonitor, updateMonitor } from '../../../src/service/monitors/monitors.ts';
import { readValue, writeValue } from '../../../src/store/kv.ts';
import type { Store } from '../../../src/store/store.ts';
import { webhook } from '../../alerts/webhook.ts';
import { addMonitor, MONITOR, mailWorker, secrets, tell } from '../../service/mail/fixture.ts';
import { refusal, startMailServer } from '../../service/mail/mail-server.ts';
import { handClock } from '../../support/clock.ts';
import { type ENGINES, newStore, SUITE_ENGINES } from '../../support/stores.ts';
import { rowsWith } from '../whole-store.ts';
import { eraseByHand } from './by-hand.ts';

const PERSON = 'CVR-3-4000000001';
const NAME = 'Asta Skovlund';
const OTHER = 'CVR-1-95000019';
const PROSE = `the CRM says: ${NAME} (${PERSON}) may not be written`;

/** A store that knew the person, who was erased since. */
async function erasedStore(engine: (typeof ENGINES)[number]): Promise<Store> {
  const store = await newStore(engine);
  const value = JSON.stringify([{ id: PERSON, name: NAME }]);
  await store.write((tx) =>
    tx.insertInto('fact').values({ entity: OTHER, field: 'owners', clock: '1', seq: 1, value }).execute(),
  );
  await eraseByHand(store, PERSON);
  return store;
}

const namingRows = async (store: Store): Promise<readonly string[]> =>
  (await rowsWith(store, '')).filter((row) => row.includes('Skovlund') || row.includes('4000000001'));

const tables = (rows: readonly string[]): readonly (string | undefined)[] => rows.map((row) => row.split(' ', 1)[0]);

describe.each(SUITE_ENGINES)('an erased person on %s', (engine) => {
  it('does not appear in errors of failed, parked or requested work', async () => {
    const store = await erasedStore(engine);
    const actor = { kind: 'operator', name: 'tester' } as const;
    await store.write((tx) => mark(tx, 'apply', ['one', 'two'], 1));
    const claims = await claim(store, 'apply', { limit: 2, now: 1, leaseMs: 1_000 });
    await store.write(async (tx) => {
      for (const [at, one] of claims.entries())
        await settle(
          tx,
          one,
          at === 0 ? { kind: 'again', at: 9, error: PROSE } : { kind: 'parked', at: 9, error: PROSE },
        );
      await park(tx, 'input', 'three', { at: 1, error: PROSE });
      const id = await requestPreview(tx, UNDO, { input: { event: 1 }, actor, via: 'page' }, 1);
      await tx.updateTable('run').set({ state: 'running' }).where('id', '=', id).execute();
      await endRun(tx, id, PROSE, 2);
    });
    expect(await namingRows(store)).toEqual([]);
    expect(tables(await rowsWith(store, 'the CRM says: (erased)'))).toEqual(['lane', 'lane', 'lane', 'run']);
  });

  it('does not appear in answers of a mail server', async () => {
    const store = await erasedStore(engine);
    const office = await startMailServer({
      onRcptTo: ({ address }, _, done) =>
        done(
          address.startsWith('full') ? refusal(452, `4.2.2 ${NAME} is full`) : refusal(550, `5.1.1 no ${NAME} here`),
        ),
    });
    await addMonitor(store);
    await tell(store, Date.now(), { recipients: ['gone@example.dk', 'full@example.dk'] });
    const { worker } = mailWorker(store, office.url, Date.now);
    await worker.drained();
    await store.write((tx) => endMail(tx, MONITOR, 'gone@example.dk', { now: 1, bounced: `550 no ${NAME} here` }));
    expect(await namingRows(store)).toEqual([]);
    expect(tables(await rowsWith(store, '(erased) is full'))).toEqual(['lane']);
    expect(new Set(tables(await rowsWith(store, 'no (erased) here')))).toEqual(new Set(['mail', 'unsubscribed']));
  });

  it('does not appear in stored alerts', async () => {
    const store = await erasedStore(engine);
    await addMonitor(store, MONITOR, NAME);
    const clock = handClock();
    await store.write((tx) =>
      tx
        .updateTable('monitor')
        .set({ failing_since: clock.now() - 86_400_000, failed_attempts: 9 })
        .execute(),
    );
    const { url, texts } = await webhook();
    const log = { error: () => undefined, warn: () => undefined };
    const alerts = await startAlerts(
      {
        ...{ store, now: clock.now, log, place: 'https://sync.example.com', daemon: 'd1' },
        ...{ outage: () => undefined, timeZone: 'Europe/Copenhagen' },
      },
      { allow: ['127.0.0.0/8'], reviewOver: 100, registerBehindMinutes: 60, webhook: url },
    );
    onTestFinished(() => alerts.stop(1_000));
    await alerts.drained();
    expect(texts).toHaveLength(1);
    const remembered = await store.db.selectFrom('alert').select('what').execute();
    expect(remembered.map(({ what }) => what).join()).toContain('(erased)');
    expect(tables(await namingRows(store))).toEqual(['monitor']);
  });

  it('does not appear in names from operators, clients or browsers', async () => {
    const store = await erasedStore(engine);
    await store.write(async (tx) => {
      const context = { secrets, now: 1 };
      const { id } = await createMonitor(tx, { name: `Firms of ${NAME}` }, context);
      await createMonitor(tx, { name: 'Others' }, context);
      await updateMonitor(tx, id, { name: `All firms of ${NAME}` }, context);
      await createKey(tx, { name: `CRM of ${NAME}`, scopes: [] }, 1);
      await startSession(tx, { operator: 'Ida', agent: `Browser of ${NAME}` }, 1);
    });
    expect(await namingRows(store)).toEqual([]);
    expect(tables(await rowsWith(store, 'of (erased)'))).toEqual(['api_key', 'monitor', 'session']);
  });

  it('does not appear in counts of senders that reuse ids', async () => {
    const store = await erasedStore(engine);
    const event = (body: string) => ({
      key: body,
      entity: OTHER,
      timestamp: '2026-01-01T00:00:00.000Z',
      body,
      webhookId: 'w1',
      digest: body,
    });
    await store.write(async (tx) => {
      await insertReceipts(tx, [event('{}')], 1);
      await noteReusedIds(tx, [{ ...event('{"a":1}'), key: '{}', entity: PERSON }], () => false, 1);
    });
    expect(await namingRows(store)).toEqual([]);
    expect(await readValue(store.db, 'webhook-id:reused')).toContain('CVR-3-9');
  });

  it("does not change cvrsync's own values, or values that are read verbatim", async () => {
    const store = await newStore(engine);
    const place = JSON.stringify({ after: '4000000001' });
    await store.write(async (tx) => {
      const value = JSON.stringify([{ id: PERSON, name: NAME }]);
      await tx.insertInto('fact').values({ entity: OTHER, field: 'owners', clock: '1', seq: 1, value }).execute();
      for (const key of ['mark-all:sync:crm', 'cursor:cvr', 'match-run:crm', 'crm/refresh-token'])
        await writeValue(tx, key, place, 1);
      await writeValue(tx, 'webhook-id:reused', JSON.stringify({ count: 3, id: 'w', entity: PERSON }), 1);
      await writeValue(tx, 'proposal:crm', JSON.stringify({ id: 'p', trouble: PROSE }), 1);
    });
    await eraseByHand(store, PERSON);
    const left = await store.db.selectFrom('kv').select(['key', 'value']).where('value', '=', place).execute();
    expect(left.map(({ key }) => key).toSorted()).toEqual([
      'crm/refresh-token',
      'cursor:cvr',
      'mark-all:sync:crm',
      'match-run:crm',
    ]);
    expect(await readValue(store.db, 'proposal:crm')).toContain('the CRM says: (erased)');
    expect((await namingRows(store)).every((row) => row.includes('{\\"after'))).toBe(true);
  });
});
