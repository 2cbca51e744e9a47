/** A value that a CRM refused: it is sent again with the next event and once a day, and no more often. */
import { describe, expect, it } from 'vitest';
import { readReview } from '../../../src/connector/review/review-list.ts';
import { editedRecords } from '../../../src/connector/sync/edited.ts';
import { mark } from '../../../src/runtime/lanes/lanes.ts';
import { historyLines } from '../../support/history.ts';
import { type ENGINES, SUITE_ENGINES } from '../../support/stores.ts';
import { type Emulated, emulatedHubspot, emulatedSalesforce, recordsOf } from './emulated-records.ts';

const HOUR = 3_600_000;
const MAIL = 'post@a.example';

interface Opened {
  readonly emulated: Emulated;
  /** Has the CRM hold something else in the mapped property from now on. */
  readonly retype: (type: 'number' | 'text') => void;
}

const CRMS = [
  [
    'HubSpot',
    async (): Promise<Opened> => {
      const emulated = await emulatedHubspot({ properties: [{ name: 'mail__c', hasUniqueValue: true }] });
      const { emulator } = emulated;
      const retype = (type: 'number' | 'text') =>
        emulator.changeProperty({ name: 'mail__c', type: type === 'text' ? 'string' : type });
      return { emulated, retype };
    },
  ],
  [
    'Salesforce',
    async (): Promise<Opened> => {
      const emulated = await emulatedSalesforce({ fields: [{ name: 'mail__c', length: 80, unique: true }] });
      const { emulator } = emulated;
      const retype = (type: 'number' | 'text') =>
        emulator.changeField(
          type === 'text' ? { name: 'mail__c', length: 80 } : { name: 'mail__c', type: 'double', length: 0 },
        );
      return { emulated, retype };
    },
  ],
] as const;

/** A record whose mail is mapped, and the calls that its syncs write with. */
async function openRecord({ emulated }: Opened, engine: (typeof ENGINES)[number]) {
  const { emulator } = emulated;
  const rows = [{ field: 'email', property: 'mail__c', policy: 'tracked' }] as const;
  const records = await recordsOf(emulated, 1, { engine, rows });
  const { store, crm, clock, sync, ids } = records;
  const [id = ''] = ids;
  const calls = () => emulator.calls.filter(({ path }) => /\/(composite|batch\/update)$/.test(path)).length;
  const callsOf = async (work: () => Promise<unknown>) => {
    const before = calls();
    await work();
    return calls() - before;
  };
  return {
    ...records,
    id,
    held: () => emulator.get(id),
    callsOf,
    again: async () => {
      await store.write((tx) => mark(tx, 'sync:crm', [id], clock.now()));
      await sync();
    },
    later: async (hours: number) => {
      clock.forward(hours * HOUR);
      await sync();
    },
    /** What a poll finds edited in the record. */
    edited: async () => {
      const schema = await crm.schema(new AbortController().signal);
      const hint = { kind: 'seen', id, properties: emulator.get(id) ?? {} } as const;
      return editedRecords(store.db, { crm, schema, match: undefined }, [hint], clock.now());
    },
    waiting: async () => (await readReview(store.db, clock.now())).filter(({ kind }) => kind === 'value'),
    lanes: () => store.db.selectFrom('lane').select('key').where('queue', '=', 'sync:crm').execute(),
    lines: async () => (await historyLines(store.db)).length,
  };
}

describe.each(SUITE_ENGINES)('a value that the CRM refused (%s)', (engine) => {
  it.each(CRMS)('is sent to %s again with the next event and once a day, until the CRM accepts it', async (_, open) => {
    const opened = await open();
    const { emulator, name } = opened.emulated;
    const holder = emulator.add({ [name]: 'Other ApS', mail__c: MAIL });
    const record = await openRecord(opened, engine);
    const { callsOf, later, again } = record;
    await record.report({ email: { before: null, after: MAIL } }, 9);
    await record.sync();
    expect(record.held()).toMatchObject({ [name]: 'B ApS', mail__c: null });
    expect(await record.waiting()).toMatchObject([
      { about: expect.stringContaining(MAIL), advice: expect.stringContaining('once a day') },
    ]);
    const lines = await record.lines();

    expect([await callsOf(again), await callsOf(() => later(23)), await record.edited()]).toEqual([0, 0, []]);
    expect([await callsOf(() => later(1)), await callsOf(again), await callsOf(() => later(23))]).toEqual([1, 0, 0]);
    expect([await record.lines(), await record.edited()]).toEqual([lines, []]);

    await record.rename('B ApS', 'C ApS', 10);
    await record.sync();
    expect(record.held()).toMatchObject({ [name]: 'C ApS', mail__c: null });
    expect([await callsOf(again), await callsOf(() => later(23)), await callsOf(() => later(1))]).toEqual([0, 0, 1]);
    expect(await record.lines()).toBe(lines + 1);

    emulator.edit(holder, { mail__c: null });
    await later(24);
    expect(record.held()).toMatchObject({ mail__c: MAIL });
    expect([await record.waiting(), await record.lanes()]).toEqual([[], []]);
  });
});

it.each(CRMS)(
  'a value whose property in %s has another type is set aside without a call until the type fits',
  async (_, open) => {
    const opened = await open();
    const { name } = opened.emulated;
    const record = await openRecord(opened, 'sqlite');
    const { callsOf, later } = record;
    await record.sync();
    opened.retype('number');
    await record.report({ name: { before: 'B ApS', after: 'C ApS' }, email: { before: null, after: MAIL } }, 9);
    await record.sync();
    expect(record.held()).toMatchObject({ [name]: 'C ApS', mail__c: null });
    expect(await record.waiting()).toMatchObject([{ about: expect.stringContaining('mail__c') }]);
    expect([await callsOf(() => later(24)), await callsOf(() => later(24))]).toEqual([0, 0]);

    opened.retype('text');
    await record.rename('C ApS', 'D ApS', 10);
    await record.sync();
    expect(record.held()).toMatchObject({ [name]: 'D ApS', mail__c: MAIL });
    expect(await record.waiting()).toEqual([]);
  },
);
