/** Texts that name an erased person by name alone, however the name is written: with capitals, marks or escapes. */
import { describe, expect, test } from 'vitest';
import { previewErasure } from '../../../src/commands/erase/erase-entity.ts';
import { readWritten, rememberWritten } from '../../../src/connector/history/written.ts';
import { linkRecord } from '../../../src/connector/links/links.ts';
import { setOverride } from '../../../src/connector/overrides/override.ts';
import { recordAudit } from '../../../src/runtime/operators/audit.ts';
import { setAside } from '../../../src/store/erasure/quarantine.ts';
import type { Store } from '../../../src/store/store.ts';
import { asStored, historyLines } from '../../support/history.ts';
import { ENGINES, newStore } from '../../support/stores.ts';
import { rowsWith } from '../whole-store.ts';
import { eraseByHand } from './by-hand.ts';

const PERSON = 'CVR-3-4000000001';
const OWNED = 'CVR-1-12345674';

/** A company names the person by id; texts of people name it as they write it. */
async function storeNaming(engine: (typeof ENGINES)[number], name: string, written: string): Promise<Store> {
  const store = await newStore(engine);
  const value = JSON.stringify({ list: [{ id: PERSON, name }] });
  const fact = { entity: OWNED, field: 'owners', clock: '2026-01-01T00:00:00.000Z', seq: 1, value };
  const hold = { kind: 'hold', once: false, until: null, reason: `asked by ${written} on the phone` } as const;
  const actor = { kind: 'operator', name: 'tester' } as const;
  await store.write(async (tx) => {
    await tx.insertInto('fact').values(fact).execute();
    await setOverride(tx, { provider: 'crm', recordId: '7', property: 'name' }, hold, 1);
    await recordAudit(tx, { actor, via: 'page', action: 'search', subject: written, result: 'done' }, 1);
    await tx
      .insertInto('alert')
      .values({ channel: 'mail', key: `search ${written}`, what: 'x', since: 1 })
      .execute();
    await tx.insertInto('note').values(noteOn(OWNED, written)).execute();
  });
  return store;
}

const noteOn = (entity: string, written: string) => ({
  provider: 'crm',
  record_id: '7',
  marker: 'm',
  seq: 1,
  entity,
  subject: `New owner: ${written}`,
  body: `İn short: ${written} owns it.`,
  at: 1,
  state: 'done' as const,
});

const plain = (text: string): string => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();

describe.each(ENGINES)('erase on %s', (engine) => {
  test.each([
    ['Åse Ørum', 'Åse Ørum'],
    ['Åse Ørum', 'åse ørum'],
    ['åse ørum', 'ÅSE ØRUM'],
    ['Émile Bo', 'Émile Bo'.normalize('NFD')],
    ['Émile Bo'.normalize('NFD'), 'ÉMILE BO'.normalize('NFC')],
    ['İpek Bo', 'İpek Bo'],
  ])('finds %s in texts that spell it %s', async (name, written) => {
    const store = await storeNaming(engine, name, written);
    const preview = await previewErasure(store.db, PERSON, AbortSignal.timeout(60_000));
    expect(preview.tables.map(({ table }) => table)).toEqual(['fact', 'override', 'note', 'audit', 'alert']);
    await eraseByHand(store, PERSON);
    const left = (await rowsWith(store, '')).filter((row) => plain(row).includes(plain(name)));
    expect(left).toEqual([]);
    expect(await rowsWith(store, 'n short: (erased) owns it.')).toHaveLength(1);
  });

  test('finds an escaped name in an unreadable body', async () => {
    const store = await storeNaming(engine, 'Åse Ørum', 'nobody');
    const body = String.raw`{"name":"\u00c5se \u00D8rum"`;
    await store.write((tx) =>
      setAside(tx, { source: 'webhook', reason: 'is no JSON', body: Buffer.from(body), now: 1 }),
    );
    await eraseByHand(store, PERSON);
    expect(await rowsWith(store, 'u00c5se')).toEqual([]);
  });

  test('removes a name after a line break from written values and decisions, and keeps lines about others', async () => {
    const store = await storeNaming(engine, 'Nina Berg', 'nobody');
    const owners = 'Bo Dahl\nNina Berg\nÅse Ørum\vNina Berg';
    const decided = {
      provider: 'crm',
      record_id: '7',
      entity: OWNED,
      at: 1,
      seq: 1,
      rule: 'blank',
      outcome: 'written',
    };
    const alone = asStored(['owner', 'owners', 'Nina Berg', null, null]);
    await store.write(async (tx) => {
      await linkRecord(tx, { provider: 'crm', recordId: '7', entity: OWNED, sendUpdate: false, now: 1 });
      await rememberWritten(tx, 'crm', [{ id: '7', property: 'owners', value: owners, at: 1 }]);
      const both = asStored(
        ['name', 'name', null, 'Nina Bergs Bageri', null],
        ['owners', 'owners', null, owners, null],
      );
      await tx
        .insertInto('history')
        .values([
          { ...decided, lines: both },
          { ...decided, lines: alone },
        ])
        .execute();
    });
    await eraseByHand(store, PERSON);
    expect((await rowsWith(store, 'Nina Berg')).map((row) => row.split(' ', 1)[0])).toEqual(['history']);
    expect((await historyLines(store.db)).map(({ now }) => now)).toEqual(['Nina Bergs Bageri']);
    const left = (await readWritten(store.db, 'crm', ['7'])).get('7')?.get('owners')?.value;
    expect(left).toBe('Bo Dahl\n(erased)\nÅse Ørum\v(erased)');
  });

  test('keeps a text with another name', async () => {
    const store = await storeNaming(engine, 'Åse Bo', 'Use Bo');
    await eraseByHand(store, PERSON);
    expect(await rowsWith(store, 'Use Bo')).toHaveLength(4);
  });
});
