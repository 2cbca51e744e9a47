/** Monitors and changes for the tests of the service. */
import { randomBytes } from 'node:crypto';
import type { Updates } from '../../src/protocol/payload.ts';
import type { Change } from '../../src/service/changes/change.ts';
import { addItem } from '../../src/service/items/items.ts';
import { openSecrets } from '../../src/service/keys/secrets.ts';
import type { MonitorInput } from '../../src/service/monitors/monitor-input.ts';
import { createMonitor } from '../../src/service/monitors/monitors.ts';
import type { Store } from '../../src/store/store.ts';

export const NOW = Date.parse('2026-09-01T08:00:00.000Z');
export const COMPANY = 'CVR-1-99000015';
export const OTHER = 'CVR-1-99000023';
export const PERSON = 'CVR-3-4000099001';
export const URL = 'https://receiver.example/webhook';

export const secrets = openSecrets(randomBytes(32));

/** A job of nobody's, on, with a webhook, but for what is given. */
export const made = (store: Store, input: Partial<MonitorInput> = {}, now = NOW) =>
  store.write((tx) => createMonitor(tx, { name: 'Sales', url: URL, ...input }, { secrets, now }));

export const listed = (store: Store, monitor: string, entity: string, recordId = '') =>
  store.write((tx) => addItem(tx, { monitor, entity, recordId, sendUpdate: false, now: NOW }));

let count = 0;

/** A change of the company's name, with an id of its own, but for what is given. */
export const changed = (change: Partial<Change> = {}): Change => ({
  id: `change ${++count}`,
  entity: COMPANY,
  name: 'Havblik Handel ApS',
  kind: 'register',
  timestamp: '2026-09-01T07:59:00.000Z',
  updates: { name: { before: 'Havblik ApS', after: 'Havblik Handel ApS' } },
  ...change,
});

export const RENAMED_AND_MOVED: Updates = {
  name: { before: 'Havblik ApS', after: 'Havblik Handel ApS' },
  website: { before: null, after: 'https://havblik.example' },
};

/** Everything that was told, in order. */
export const deliveries = (store: Store) =>
  store.db
    .selectFrom('delivery')
    .innerJoin('change', 'change.seq', 'delivery.change')
    .select(['delivery.monitor', 'delivery.entity', 'delivery.events', 'delivery.state', 'change.id'])
    .orderBy('delivery.seq')
    .execute();

export const lanes = async (store: Store, queue: string) => {
  const rows = await store.db.selectFrom('lane').select('key').where('queue', '=', queue).orderBy('key').execute();
  return rows.map(({ key }) => key);
};

/** So many monitors of everything; `activated` says whether each is on. */
export async function copies(store: Store, count: number, enabled: (at: number) => 0 | 1): Promise<void> {
  const { id } = await made(store, { target: 'all' });
  const row = await store.db.selectFrom('monitor').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const rows = Array.from({ length: count }, (_, at) => ({ ...row, id: `m${at}`, enabled: enabled(at) }));
  await store.write(async (tx) => {
    await tx.deleteFrom('monitor').execute();
    for (let at = 0; at < count; at += 500)
      await tx
        .insertInto('monitor')
        .values(rows.slice(at, at + 500))
        .execute();
  });
}
