/** A company becomes a record once, whatever the CRM answers, and never beside one that has its number. */
import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../../providers/provider.ts';
import { readWritten } from '../../../src/connector/history/written.ts';
import { endLink, findLink, linkRecord } from '../../../src/connector/links/links.ts';
import { draftRecord } from '../../../src/connector/transfer/record.ts';
import type { TransferDeps } from '../../../src/connector/transfer/transfer.ts';
import { eraseByHand } from '../../commands/erase/by-hand.ts';
import { rowsWith } from '../../commands/whole-store.ts';
import { ENTITY, renamed, reported } from '../../faults/company.ts';
import { AARHUS } from '../../support/addresses.ts';
import { historyLines } from '../../support/history.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';
import { propertyOf } from '../property-of.ts';
import { setTransfer, silence, type TransferFixture } from './fixture.ts';

const NUMBER = ENTITY.slice('CVR-1-'.length);
const order = { entity: ENTITY, name: 'Fjordlys ApS' };

const creations = ({ calls }: TransferFixture): number => calls.filter((call) => call === 'create').length;
const intents = async ({ store }: TransferFixture) =>
  (await store.db.selectFrom('kv').select('key').execute()).map(({ key }) => key);

describe.each(SUITE_ENGINES)('transfer on %s', (engine) => {
  it('creates the record with its name and number, links it, and requests the full state from the service', async () => {
    const fixture = await setTransfer(engine);
    expect(await fixture.run(order)).toEqual({ kind: 'made', id: 'new-1', name: 'Fjordlys ApS', setAside: {} });
    expect(fixture.records.get('new-1')).toEqual({ name: 'Fjordlys ApS', cvr: NUMBER });
    expect(await findLink(fixture.store.db, { provider: 'crm', recordId: 'new-1' })).toMatchObject({
      entity: ENTITY,
      state: 'active',
      origin: 'number',
      desired: 'on',
      send_update: 1,
    });
    const lanes = await fixture.store.db.selectFrom('lane').select(['queue', 'key']).orderBy('queue').execute();
    expect(lanes).toContainEqual({ queue: 'monitoring', key: 'crm:new-1' });
    expect(lanes.map(({ queue }) => queue)).not.toContain('poll');
    expect(await intents(fixture)).toEqual([]);
  });

  it('writes known facts, and stores them as our own writes', async () => {
    const fixture = await setTransfer(engine);
    await fixture.report(renamed('A ApS', 'B ApS', 8, ENTITY));
    expect(await fixture.run({ entity: ENTITY, name: undefined })).toMatchObject({ kind: 'made', name: 'B ApS' });
    expect(fixture.records.get('new-1')).toMatchObject({ name: 'B ApS', cvr: NUMBER });
    const written = await readWritten(fixture.store.db, 'crm', ['new-1']);
    expect(written.get('new-1')).toEqual(new Map([['name', { value: 'B ApS', at: expect.any(Number) }]]));
    const line = { property: 'name', old: null, outcome: 'written' };
    expect(await historyLines(fixture.store.db)).toContainEqual(expect.objectContaining(line));
  });

  it('stores the spelling of the CRM, if it reports it', async () => {
    for (const silent of [undefined, silence(false)?.error]) {
      const fixture = await setTransfer(engine);
      Object.assign(fixture, { silent, respell: { name: (text: string) => text.toUpperCase() } });
      await fixture.report(renamed('A ApS', 'B ApS', 8, ENTITY));
      await fixture.run({ entity: ENTITY, name: undefined });
      const written = await readWritten(fixture.store.db, 'crm', ['new-1']);
      const stored = silent === undefined ? { stored: 'B APS' } : {};
      expect(written.get('new-1')?.get('name')).toEqual({ value: 'B ApS', at: expect.any(Number), ...stored });
    }
  });

  it('is refused if the company has a link already', async () => {
    const fixture = await setTransfer(engine);
    const desired = { provider: 'crm', recordId: '7', entity: ENTITY, sendUpdate: false, now: 1 };
    await fixture.store.write((tx) => linkRecord(tx, desired));
    expect(await fixture.run(order)).toEqual({ kind: 'linked', id: '7', state: 'active' });
    await fixture.store.write((tx) => endLink(tx, { ...desired, state: 'gone', reason: 'deleted' }));
    expect(await fixture.run(order)).toMatchObject({ kind: 'made' });
  });

  it('needs a confirmation of a number that fails the check of the register, unless the company has facts', async () => {
    const fixture = await setTransfer(engine);
    const entity = 'CVR-1-10000002';
    expect(await fixture.run({ entity, name: 'Fjordlys ApS' })).toEqual({ kind: 'mistyped' });
    expect([fixture.asked, creations(fixture), await intents(fixture)]).toEqual([[entity], 0, []]);
    fixture.answer = true;
    expect(await fixture.run({ entity, name: 'Fjordlys ApS' })).toMatchObject({ kind: 'made' });
    const old = 'CVR-1-10000003';
    await fixture.report(renamed('A ApS', 'B ApS', 8, old));
    fixture.answer = false;
    expect(await fixture.run({ entity: old, name: undefined })).toMatchObject({ kind: 'made', name: 'B ApS' });
    expect(fixture.asked).toEqual([entity, entity]);
  });

  it('reports why it waits while it reads the records', async () => {
    const fixture = await setTransfer(engine);
    const { find, ...connection } = fixture.crm.connection;
    let scans = 0;
    const scan: typeof connection.scan = async (...page) => {
      scans += 1;
      if (scans === 1) throw new ProviderError('unavailable', 'no answer within 30 s');
      return connection.scan(...page);
    };
    const troubles: unknown[] = [];
    const crm = { ...fixture.crm, connection: { ...connection, scan } };
    const waiting: TransferDeps['waiting'] = ({ trouble }) => troubles.push(trouble);
    expect(await fixture.run(order, { crm, waiting })).toMatchObject({ kind: 'made' });
    expect(troubles).toEqual(['no answer within 30 s', undefined]);
  });

  it('creates one record if two people transfer the company at the same time', async () => {
    const fixture = await setTransfer(engine);
    const { promise, resolve } = Promise.withResolvers<void>();
    fixture.gate = promise;
    const first = fixture.run(order);
    await expect.poll(() => creations(fixture)).toBe(1);
    expect((await fixture.run(order)).kind).toBe('busy');
    resolve();
    expect((await first).kind).toBe('made');
    expect(creations(fixture)).toBe(1);
  });

  it('finds a record whose creation had no answer, and creates no second one', async () => {
    const fixture = await setTransfer(engine);
    fixture.fault = silence(true);
    expect(await fixture.run(order)).toMatchObject({ kind: 'found', id: 'new-1' });
    expect(creations(fixture)).toBe(1);
    expect(await findLink(fixture.store.db, { provider: 'crm', recordId: 'new-1' })).toMatchObject({ state: 'active' });
    expect(await intents(fixture)).toEqual([]);
  });

  it('creates and stores nothing for an erased company', async () => {
    const fixture = await setTransfer(engine);
    await eraseByHand(fixture.store, ENTITY);
    for (const _ of [1, 2]) await expect(fixture.run(order)).rejects.toThrow(`${ENTITY} was erased`);
    expect(fixture.calls).toEqual([]);
    expect(await rowsWith(fixture.store, ENTITY)).toEqual([]);
  });

  it('creates nothing for a company that is erased during the search for duplicates', async () => {
    const fixture = await setTransfer(engine);
    await fixture.report(renamed('A ApS', 'B ApS', 8, ENTITY));
    fixture.records.set('7', { name: order.name });
    const askName = async () => {
      await eraseByHand(fixture.store, ENTITY);
      return true;
    };
    await expect(fixture.run(order, { askName })).rejects.toThrow(`${ENTITY} was erased`);
    expect(creations(fixture)).toBe(0);
    expect(await rowsWith(fixture.store, ENTITY)).toEqual([]);
  });

  it('names the record of a company that is erased while the CRM creates it', async () => {
    const fixture = await setTransfer(engine);
    const { promise, resolve } = Promise.withResolvers<void>();
    fixture.gate = promise;
    const made = fixture.run(order);
    const failed = expect(made).rejects.toThrow('crm:new-1 was made for a company that was erased meanwhile');
    await expect.poll(() => creations(fixture)).toBe(1);
    await eraseByHand(fixture.store, ENTITY);
    resolve();
    await failed;
    expect(await rowsWith(fixture.store, ENTITY)).toEqual([]);
  });
});

describe('an uncertain transfer', () => {
  it.each([
    ['DK', `DK${NUMBER}`],
    ['blanks', `${NUMBER.slice(0, 2)} ${NUMBER.slice(2, 4)} ${NUMBER.slice(4, 6)} ${NUMBER.slice(6)}`],
    ['nothing else', NUMBER],
  ])('is refused if a record holds the number with %s', async (_, spelled) => {
    const fixture = await setTransfer();
    fixture.records.set('7', { name: 'Another name', cvr: spelled });
    const done = await fixture.run(order);
    expect(done).toMatchObject({ kind: 'duplicate', records: [{ id: '7', number: spelled, name: 'Another name' }] });
    expect(creations(fixture)).toBe(0);
    expect(await intents(fixture)).toEqual([]);
  });

  it.each(['late', 'never'] as const)(
    'reads every record where the CRM finds %s, and sees every spelling',
    async (how) => {
      const fixture = await setTransfer();
      fixture.finds = how;
      fixture.records.set('7', { name: 'Another name', cvr: `CVR-nr.: ${NUMBER}` });
      expect(await fixture.run(order)).toMatchObject({ kind: 'duplicate', records: [{ id: '7' }] });
      expect(fixture.calls).toContain('scan');
    },
  );

  it('is refused if no record shows its number, because a duplicate would be invisible', async () => {
    const fixture = await setTransfer();
    fixture.finds = 'never';
    fixture.records.set('7', { name: 'x' });
    await expect(fixture.run(order)).rejects.toThrow('shows cvr to these credentials in no record');
  });

  it('needs a confirmation if records have the same name', async () => {
    const fixture = await setTransfer();
    fixture.records.set('7', { name: 'Fjordlys ApS', cvr: null });
    expect(await fixture.run(order)).toMatchObject({ kind: 'same-name', records: [{ id: '7' }] });
    fixture.answer = true;
    expect(await fixture.run(order)).toMatchObject({ kind: 'made' });
    expect(fixture.asked).toEqual(['7', '7']);
  });

  it('compares names without form and case if it reads every record', async () => {
    const fixture = await setTransfer();
    fixture.finds = 'never';
    fixture.records.set('7', { name: 'FJORDLYS  A/S', cvr: null });
    fixture.records.set('8', { name: 'Fjordlyset ApS', cvr: null });
    expect(await fixture.run(order)).toMatchObject({ kind: 'same-name', records: [{ id: '7' }] });
  });

  it('needs a name', async () => {
    const fixture = await setTransfer();
    await expect(fixture.run({ entity: ENTITY, name: undefined })).rejects.toThrow('give it with --name');
  });

  it('refers to check if the property of the number is missing', async () => {
    const { store, crm } = await setTransfer();
    const draft = draftRecord(
      store.db,
      { ...crm, match: 'lost' },
      { ...order, number: NUMBER },
      AbortSignal.timeout(9_000),
    );
    await expect(draft).rejects.toThrow(
      /has no property lost that these credentials can write: cvrsync check says what to do$/u,
    );
  });
});

describe('a CRM that does not simply create the record', () => {
  it('is called again only by the next transfer, after a search', async () => {
    const fixture = await setTransfer();
    fixture.fault = silence(false);
    expect(await fixture.run(order)).toMatchObject({ kind: 'lost' });
    expect(creations(fixture)).toBe(1);
    expect(await intents(fixture)).toEqual([`transfer:crm:${ENTITY}`]);
    fixture.fault = undefined;
    expect(await fixture.run(order)).toMatchObject({ kind: 'made' });
    expect(await intents(fixture)).toEqual([]);
  });

  it('has created a record that appears after the process died', async () => {
    const fixture = await setTransfer();
    const dying = new AbortController();
    const { connection } = fixture.crm;
    const crm = {
      ...fixture.crm,
      connection: {
        ...connection,
        create: async (properties: Parameters<NonNullable<typeof connection.create>>[0]) => {
          fixture.records.set('made', properties);
          dying.abort(new Error('stopped by SIGTERM'));
          throw new Error('stopped by SIGTERM');
        },
      },
    };
    await expect(fixture.run(order, { crm }, dying.signal)).rejects.toThrow('SIGTERM');
    expect(await fixture.run(order)).toMatchObject({ kind: 'found', id: 'made' });
    expect(creations(fixture)).toBe(0);
  });

  it('has created nothing if it limits the rate or refuses the credentials', async () => {
    for (const fault of ['rate', 'auth', 'locked', 'refused'] as const) {
      const fixture = await setTransfer();
      fixture.fault = { error: new ProviderError(fault, `it is ${fault}`), applied: false };
      await expect(fixture.run(order)).rejects.toThrow(`it is ${fault}`);
      expect(await intents(fixture)).toEqual([]);
    }
  });

  it('gets the record without a refused property, and the person is notified', async () => {
    const fixture = await setTransfer();
    await fixture.report(reported({ phoneNumber: { before: null, after: '+4570102030' } }, 8));
    fixture.verdict = (properties) =>
      'phone' in properties ? { kind: 'rejected', reason: 'bad', properties: { phone: 'not a phone' } } : undefined;
    expect(await fixture.run(order)).toMatchObject({ kind: 'made', setAside: { phone: 'not a phone' } });
    expect([...fixture.records.values()]).toEqual([{ name: 'Fjordlys ApS', cvr: NUMBER }]);
  });

  it('gets no part of an address with a refused part, and only that part is in review', async () => {
    const fixture = await setTransfer();
    await fixture.report(reported({ address: { before: null, after: AARHUS } }, 8));
    fixture.verdict = (properties) =>
      'city' in properties ? { kind: 'rejected', reason: 'bad', properties: { city: 'not a town' } } : undefined;
    const mapping = [
      ...fixture.crm.mapping,
      { field: 'street', property: 'address', policy: 'tracked' },
      { field: 'city', property: 'city', policy: 'tracked' },
    ] as const;
    const schema = new Map(['name', 'cvr', 'address', 'city'].map((name) => [name, propertyOf('string', { name })]));
    const crm = { ...fixture.crm, mapping, schema: async () => schema };
    expect(await fixture.run(order, { crm })).toMatchObject({ kind: 'made', setAside: { city: 'not a town' } });
    expect([...fixture.records.values()]).toEqual([{ name: 'Fjordlys ApS', cvr: NUMBER }]);
    const aside = fixture.store.db.selectFrom('property_state').select('property').where('refused', 'is not', null);
    expect(await aside.execute()).toEqual([{ property: 'city' }]);
  });

  it('is not retried for ever if it refuses the name', async () => {
    const fixture = await setTransfer();
    fixture.verdict = () => ({ kind: 'rejected', reason: 'too short', properties: { name: 'too short' } });
    expect(await fixture.run(order)).toEqual({ kind: 'rejected', reason: 'too short' });
    expect(creations(fixture)).toBe(1);
  });

  it('ends the transfer if it reports that it has the company', async () => {
    const fixture = await setTransfer();
    fixture.verdict = () => ({ kind: 'duplicate', id: '9', reason: 'a duplicate rule found record 9' });
    expect(await fixture.run(order)).toMatchObject({ kind: 'duplicate', records: [{ id: '9' }] });
    expect(await intents(fixture)).toEqual([]);
  });

  it('without the ability to create companies leaves nothing behind', async () => {
    const fixture = await setTransfer();
    const { create, ...connection } = fixture.crm.connection;
    await expect(fixture.run(order, { crm: { ...fixture.crm, connection } })).rejects.toThrow('cannot make companies');
    expect(await intents(fixture)).toEqual([]);
  });
});
