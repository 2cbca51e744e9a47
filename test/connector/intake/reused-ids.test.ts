/** A second event with the same webhook-id and another body. */
import { describe, expect, it } from 'vitest';
import { resolveReview } from '../../../src/connector/review/resolve.ts';
import { readReview } from '../../../src/connector/review/review-list.ts';
import { signRequest } from '../../../src/protocol/auth.ts';
import { openReceiver, phoneEvent, post } from '../../support/receiver.ts';
import { newStore, SUITE_ENGINES } from '../../support/stores.ts';

const HEADER = { method: 'Header', key: 'X-Webhook-Key', value: 'sesame' } as const;
const SIGNATURE = { method: 'Signature', secret: `whsec_${Buffer.alloc(24, 7).toString('base64')}` } as const;
const grown = (event: ReturnType<typeof phoneEvent>) => ({
  ...event,
  updates: { newerEvent: { updated: false }, ...event.updates },
});

describe.each(SUITE_ENGINES)('one webhook-id on different events, on %s', (engine) => {
  const fixture = async () => {
    const store = await newStore(engine);
    const receiver = await openReceiver(store, { auth: [HEADER, SIGNATURE] });
    const send = async (event: object, id: string, isSigned = false): Promise<number> => {
      const body = JSON.stringify(event);
      const signed = isSigned ? signRequest(SIGNATURE, { id, timestampMs: Date.now(), body }) : {};
      const headers = isSigned ? signed : { 'x-webhook-key': HEADER.value, 'webhook-id': id };
      return (await post(receiver.url, body, headers)).status;
    };
    const stored = async () => {
      await receiver.read();
      return (await store.db.selectFrom('receipt').select('body').orderBy('seq').execute()).map(
        ({ body }) => /"after":"(\d+)"/u.exec(body ?? '')?.[1],
      );
    };
    const senders = async () => (await readReview(store.db, Date.now())).filter(({ kind }) => kind === 'sender');
    const counted = async () => (await receiver.metrics.registry.metrics()).match(/ids_reused_total (\d+)/u)?.[1];
    return { store, receiver, send, stored, senders, counted };
  };

  it('stores every event if the id is unproven, and reports the sender', async () => {
    const { store, receiver, send, stored, senders, counted } = await fixture();
    for (const event of [phoneEvent(1), phoneEvent(2), phoneEvent(1), grown(phoneEvent(2))])
      expect(await send(event, 'msg_1')).toBe(204);
    expect(await stored()).toEqual(['20000001', '20000002']);
    expect(await counted()).toBe('1');
    const [reported] = await senders();
    expect(reported?.reason).toContain('gave different events the same webhook-id, 1 times; the last was msg_1');
    expect(await store.write((tx) => resolveReview(tx, 'drop', reported?.id ?? '', 1))).toMatchObject({
      kind: 'done',
    });
    expect(await senders()).toEqual([]);
    await receiver.close();
  });

  it('relies on a signed id, and keeps the body that was not applied', async () => {
    const { store, receiver, send, stored, senders, counted } = await fixture();
    for (const event of [phoneEvent(1), grown(phoneEvent(1))]) expect(await send(event, 'msg_1', true)).toBe(204);
    expect([await stored(), await senders()]).toEqual([['20000001'], []]);
    expect(await send(phoneEvent(2), 'msg_1', true)).toBe(204);
    expect([await stored(), await counted()]).toEqual([['20000001'], '1']);
    expect((await senders())[0]?.reason).toContain('it was not applied, and its body is quarantined');
    const quarantined = await store.db.selectFrom('quarantine').select(['reason', 'body']).execute();
    expect(quarantined).toMatchObject([{ reason: expect.stringContaining('msg_1') }]);
    expect(quarantined[0]?.body).toContain('20000002');
    // A stranger to the signature with the same id takes nothing away from it, nor the other way round.
    expect(await send(phoneEvent(3), 'msg_1')).toBe(204);
    expect(await stored()).toEqual(['20000001', '20000003']);
    await receiver.close();
  });

  it('finds both if they arrive together', async () => {
    const { receiver, send, stored, senders } = await fixture();
    const events = Array.from({ length: 12 }, (_, at) => phoneEvent(at + 1));
    expect(new Set(await Promise.all(events.map((event) => send(event, 'msg_1'))))).toEqual(new Set([204]));
    expect((await stored()).length).toBe(12);
    expect(await senders()).toHaveLength(1);
    await receiver.close();
  });
});
