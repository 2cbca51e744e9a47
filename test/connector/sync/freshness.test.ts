/** An edit between our read and our write: what is read too long before it is written is read again. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { serveEmulator } from '../../../providers/kit/emulator/emulator.ts';
import type { Connection, Property } from '../../../providers/provider.ts';
import { applyReceipts } from '../../../src/connector/apply/apply.ts';
import type { Crm } from '../../../src/connector/crm/crm.ts';
import { insertReceipts } from '../../../src/connector/intake/receipt.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { syncRecords } from '../../../src/connector/sync/sync.ts';
import { createMetrics, type Metrics } from '../../../src/http/metrics.ts';
import { writePayload } from '../../../src/protocol/payload.ts';
import { claim } from '../../../src/runtime/lanes/lanes.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import type { Store } from '../../../src/store/store.ts';
import { ENTITY, renamed } from '../../faults/company.ts';
import { newStore } from '../../support/stores.ts';
import { openToyCrm } from '../../support/toy-crm.ts';

const NAME: Property = { name: 'name', label: 'Name', type: 'string', writable: true };
const live = () => new AbortController().signal;

/** A CRM with one company; each write is a call that `slowly` may come before, as an own question of the provider. */
class Script {
  name = 'A ApS';
  time = Date.UTC(2026, 2, 3);
  /** A clock that stands still would keep the rate limiter waiting: it moves a ms each time it is looked at. */
  readonly now = () => {
    this.time += 1;
    return this.time;
  };
  reads = 0;
  readonly written: string[] = [];
  slowly: (() => void) | undefined;
  /** Comes after a read has seen the record, before its answer. */
  answering: (() => void) | undefined;
  /** Comes before the answer to a write. */
  arrives: (() => void) | undefined;
  edits: Connection['edits'];
}

async function setUp(script: Script): Promise<{ store: Store; crm: Crm; metrics: Metrics }> {
  const server = await serveEmulator(({ method, path, body }) => {
    if (path === '/slow') script.slowly?.();
    if (method === 'PATCH') {
      script.name = body;
      script.written.push(body);
    }
    const seen = { name: script.name };
    if (path === '/read') {
      script.reads += 1;
      script.answering?.();
    }
    if (path === '/write') script.arrives?.();
    return { status: 200, body: seen };
  });
  onTestFinished(server.close);
  const store = await newStore('sqlite');
  const metrics = createMetrics();
  const { now } = script;
  const crm = await openToyCrm({
    store,
    now,
    metrics,
    mapping: [{ field: 'name', property: 'name', policy: 'tracked' }],
    connect: ({ http }) => ({
      check: async () => ({ id: '1', name: 'A CRM', notes: [] }),
      properties: async () => [NAME],
      read: async ([id = ''], _names, signal) => {
        const { body } = await http({ method: 'GET', url: `${server.url}/read`, signal });
        return [{ kind: 'found', id, properties: JSON.parse(body) }];
      },
      update: async ([patch], signal) => {
        if (patch === undefined) return [];
        await http({ method: 'GET', url: `${server.url}/slow`, signal });
        const body = String(patch.properties.name);
        await http({ method: 'PATCH', url: `${server.url}/write`, body, signal });
        return [{ kind: 'written', id: patch.id }];
      },
      scan: async () => ({ records: [] }),
      ...(script.edits !== undefined && { edits: script.edits }),
    }),
  });
  await store.write((tx) =>
    linkRecord(tx, { provider: 'crm', recordId: '7', entity: ENTITY, sendUpdate: false, now: now() }),
  );
  const body = JSON.stringify(writePayload(renamed('A ApS', 'B ApS')));
  const event = { key: 'a', entity: ENTITY, timestamp: '2026-03-02T08:00:00.000Z', body };
  await store.write((tx) => insertReceipts(tx, [event], now()));
  const claims = await claim(store, 'apply', { limit: 9, now: now(), leaseMs: 9_000 });
  await applyReceipts({ store, wakeUp: createWakeUp(), metrics, now, emailEvent: 'email', mapped: new Map() }, claims);
  return { store, crm, metrics };
}

async function sync(script: Script): Promise<{ rules: readonly string[]; rereads: number; open: number }> {
  const { store, crm, metrics } = await setUp(script);
  const { now } = script;
  const claims = await claim(store, 'sync:crm', { limit: 9, now: now(), leaseMs: 60_000 });
  await syncRecords({ store, metrics, now }, crm, claims, live());
  const lines = await store.db.selectFrom('history').select('rule').orderBy('id').execute();
  const { values } = await metrics.rereads.get();
  return {
    rules: lines.map(({ rule }) => rule),
    rereads: values[0]?.value ?? 0,
    open: (await store.db.selectFrom('lane').selectAll().where('queue', '=', 'sync:crm').execute()).length,
  };
}

describe('an edit between our read and our write', () => {
  it('is kept if the write waited longer than 250 ms, because the record is read and decided again', async () => {
    const script = new Script();
    script.slowly = () => {
      script.slowly = undefined;
      script.time += 300;
      script.name = 'As a person wrote it';
    };
    expect(await sync(script)).toEqual({ rules: ['edited'], rereads: 1, open: 0 });
    expect([script.written, script.name]).toEqual([[], 'As a person wrote it']);
  });

  it('costs no second read if the write left at once', async () => {
    const script = new Script();
    script.slowly = () => {
      script.time += 100;
    };
    expect(await sync(script)).toEqual({ rules: ['register'], rereads: 0, open: 0 });
    expect([script.written, script.reads]).toEqual([['B ApS'], 1]);
  });

  it('is checked each time that the write waits too long', async () => {
    const script = new Script();
    let waits = 3;
    script.slowly = () => {
      waits -= 1;
      if (waits >= 0) script.time += 400;
      if (waits === 0) script.name = 'As a person wrote it';
    };
    expect(await sync(script)).toEqual({ rules: ['edited'], rereads: 3, open: 0 });
    expect([script.written, script.name]).toEqual([[], 'As a person wrote it']);
  });

  it('is not overwritten by a write that always waits too long, which is retried later with the reason', async () => {
    const script = new Script();
    script.slowly = () => {
      script.time += 400;
    };
    const { store, crm, metrics } = await setUp(script);
    const { now } = script;
    const claims = await claim(store, 'sync:crm', { limit: 9, now: now(), leaseMs: 60_000 });
    await syncRecords({ store, metrics, now }, crm, claims, live());
    const lanes = await store.db.selectFrom('lane').selectAll().where('queue', '=', 'sync:crm').execute();
    expect(lanes).toMatchObject([{ parked_at: null, error: expect.stringContaining('within 250 ms of the start') }]);
    expect([script.written, await store.db.selectFrom('pending_write').selectAll().execute()]).toEqual([[], []]);
  });

  it('is measured from the start of the read, so that a slow answer is read again', async () => {
    const script = new Script();
    script.answering = () => {
      script.answering = undefined;
      script.name = 'As a person wrote it';
      script.time += 3_000;
    };
    expect(await sync(script)).toEqual({ rules: ['edited'], rereads: 1, open: 0 });
    expect(script.written).toEqual([]);
  });

  it('does not block writes to a slow CRM that names editors', async () => {
    const script = new Script();
    script.edits = async () => [];
    script.answering = () => {
      script.time += 3_000;
    };
    expect(await sync(script)).toMatchObject({ rules: ['register'], open: 0 });
    expect(script.written).toEqual(['B ApS']);
  });

  it('is counted in the metric of the time from the start of the read to the answer of the write', async () => {
    const script = new Script();
    script.slowly = () => {
      script.time += 100;
    };
    script.arrives = () => {
      script.time += 700;
    };
    const { store, crm, metrics } = await setUp(script);
    const { now } = script;
    const claims = await claim(store, 'sync:crm', { limit: 9, now: now(), leaseMs: 60_000 });
    await syncRecords({ store, metrics, now }, crm, claims, live());
    const { values } = await metrics.readToWriteSeconds.get();
    const sum = values.find(({ metricName }) => metricName?.endsWith('_sum'));
    expect(sum).toMatchObject({ labels: { provider: 'crm' } });
    expect(sum?.value).toBeGreaterThan(0.8);
    expect(sum?.value).toBeLessThan(0.95);
  });
});
