import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { signRequest } from '../../../src/protocol/auth.ts';
import { openStore } from '../../../src/store/engines/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { openReceiver, phoneEvent, post, type Receiver } from '../../support/receiver.ts';
import { converse } from '../../support/sockets.ts';
import { newFolder } from '../../support/stores.ts';

const OLD = { method: 'Header', key: 'X-Webhook-Key', value: 'old-sesame' } as const;
const NEW = { method: 'Signature', secret: `whsec_${Buffer.alloc(24, 7).toString('base64')}` } as const;
const KEY = { 'x-webhook-key': OLD.value };

let folder = '';
let store: Store;
let receiver: Receiver;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'cvrsync-webhook-'));
  store = await openStore(`${folder}/store.db`);
  receiver = await openReceiver(store, { auth: [OLD, NEW] });
});
afterAll(async () => {
  await receiver.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() =>
  store.write(async (tx) => {
    await tx.deleteFrom('arrival').execute();
    await tx.deleteFrom('receipt').execute();
    await tx.deleteFrom('quarantine').execute();
  }),
);

const receipts = async () => {
  await receiver.read();
  return store.db.selectFrom('receipt').selectAll().orderBy('seq').execute();
};
const quarantine = () => store.db.selectFrom('quarantine').select(['reason', 'body']).orderBy('id').execute();
const send = (body: unknown, headers: Readonly<Record<string, string>> = KEY) => post(receiver.url, body, headers);

describe('before the secret is proven', () => {
  const statusOf = async (...headers: readonly string[]): Promise<string | undefined> => {
    const lines = ['POST /webhook HTTP/1.1', 'Host: x', 'Content-Type: application/json', 'Content-Length: 1000000'];
    const socket = connect(Number(new URL(receiver.url).port), '127.0.0.1');
    socket.write([...lines, ...headers, '', ''].join('\r\n'));
    // Not a byte of the body is sent: whatever is answered was decided without it.
    const [heard] = await once(socket, 'data');
    socket.destroy();
    return /^HTTP\/1\.1 (?<status>\d+)/.exec(String(heard))?.groups?.['status'];
  };

  it('a stranger is refused by its headers before the body is read', async () => {
    expect(await statusOf()).toBe('401');
    expect(await statusOf('X-Webhook-Key: another')).toBe('401');
    const at = `webhook-timestamp: ${Math.floor(Date.now() / 1_000) - 3_600}`;
    expect(await statusOf('webhook-id: 1', at, 'webhook-signature: v1,AAAA')).toBe('401');
  });
});

describe('an event', () => {
  it('is on disk when it is answered 204', async () => {
    const answer = await send(phoneEvent(1, ' cvr-1-99000015'));
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    expect(await receipts()).toMatchObject([
      { entity: 'CVR-1-99000015', timestamp: '2026-08-14T09:30:00.000Z', applied_at: null },
    ]);
    expect((await receipts())[0]?.body).toContain('"after":"20000001"');
  });

  it('that is repeated is answered 204 and stored once, even with additions or in another spelling', async () => {
    const event = phoneEvent(2);
    const grown = { ...event, updates: { newerEvent: { updated: false }, ...event.updates } };
    const again = {
      updates: {
        newerEvent: { updated: false },
        phoneNumber: { after: '20000002', before: '11111111', updated: true },
      },
      timestamp: '2026-08-14T09:30:00Z',
      entityId: 'cvr-1-99000015',
    };
    for (const body of [event, grown, again, JSON.stringify(event, null, 4)]) {
      expect((await send(body)).status).toBe(204);
    }
    expect(await receipts()).toHaveLength(1);
    expect((await send({ ...event, timestamp: '2026-08-14T09:30:01Z' })).status).toBe(204);
    expect(await receipts()).toHaveLength(2);
  });

  it('is the same by its signed webhook-id', async () => {
    const signed = (number: number, id: string) => {
      const body = JSON.stringify(phoneEvent(number));
      return send(body, signRequest(NEW, { id, timestampMs: Date.now(), body }));
    };
    await signed(3, 'msg_1');
    await signed(4, 'msg_1');
    await signed(3, 'msg_2');
    expect((await receipts()).map((row) => row.dedupe_key)).toEqual(['msg_1', 'msg_2']);
  });

  it('is another by its body if its webhook-id is unproven', async () => {
    for (const number of [3, 4, 3]) await send(phoneEvent(number), { ...KEY, 'webhook-id': 'msg_1' });
    expect((await receipts()).map((row) => [row.webhook_id, row.body?.match(/2000000\d/u)?.[0]])).toEqual([
      ['msg_1', '20000003'],
      ['msg_1', '20000004'],
    ]);
  });

  it('is stored with its unknown and malformed entries', async () => {
    const event = phoneEvent(5);
    const odd = { moonPhase: { updated: true, after: 'full' }, capital: { updated: 'perhaps' } };
    expect((await send({ ...event, updates: { ...event.updates, ...odd } })).status).toBe(204);
    const body = (await receipts())[0]?.body;
    expect(body).toContain('moonPhase');
    expect(body).toContain('perhaps');
  });

  it('with a __proto__ does no harm', async () => {
    const text = `{"__proto__":{"polluted":1},"entityId":"CVR-1-99000015","timestamp":"2026-08-14T09:30:00Z",
      "updates":{"__proto__":{"updated":true,"polluted":1},"name":{"updated":true,"after":"Birk ApS"}}}`;
    expect((await send(text)).status).toBe(204);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});

describe('authentication', () => {
  it('refuses strangers with 401, stores nothing and does not reveal the secret', async () => {
    for (const headers of [{}, { 'x-webhook-key': 'wrong' }, { 'webhook-id': 'msg_1', 'webhook-signature': 'v1,x' }]) {
      const answer = await send(phoneEvent(1), headers);
      expect(answer.status).toBe(401);
      expect(await answer.json()).toEqual({
        errorMessage: expect.not.stringMatching(/sesame|X-Webhook-Key/i),
        httpStatusCode: 401,
        errorCode: 401,
      });
    }
    expect((await send('{', {})).status).toBe(401);
    expect([await receipts(), await quarantine()]).toEqual([[], []]);
    expect(receiver.logged.filter((line) => line.includes('did not prove'))).toHaveLength(1);
  });

  it('accepts either secret while one is being rotated', async () => {
    const body = JSON.stringify(phoneEvent(6));
    const signed = signRequest(NEW, { id: 'msg_9', timestampMs: Date.now(), body });
    expect((await send(body, signed)).status).toBe(204);
    expect((await send(body, KEY)).status).toBe(204);
    expect((await send(body.replace('20000006', '20000007'), signed)).status).toBe(401);
  });
});

describe('a body that cannot be used', () => {
  const deep = `{"entityId":"CVR-1-99000015","timestamp":"2026-08-14","updates":${'['.repeat(1_000)}${']'.repeat(1_000)}}`;

  it.each([
    ['no JSON', '{"entityId":', 'the body is not JSON'],
    ['nothing at all', '', 'the body is empty'],
    ['1,000 levels deep', deep, 'nested deeper'],
    ['a list', '[]', 'is not a JSON object'],
    ['without its parts', '{"entityId":7}', 'entityId is not an entity id'],
  ])('is answered 400 and quarantined: %s', async (_, body, reason) => {
    const answer = await send(body);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ errorMessage: expect.stringContaining(reason), httpStatusCode: 400 });
    expect(await quarantine()).toEqual([{ reason: expect.stringContaining(reason), body }]);
    expect(await receipts()).toEqual([]);
  });

  it('names all its errors', async () => {
    const errors = ['entityId', 'timestamp', 'updates'].map((path) => ({ path, message: expect.any(String) }));
    expect(await (await send('{"updates":7}')).json()).toMatchObject({ errors });
  });

  it('is cut, stored once even if it is repeated, and deleted in favour of newer ones', async () => {
    for (let at = 0; at < 3; at++) await send(`{"same": `);
    expect(await quarantine()).toHaveLength(1);
    await send(`"${'ø'.repeat(20_000)}`);
    expect((await quarantine())[1]?.body).toHaveLength(8_193);
    for (let at = 0; at < 200; at++) await send(`{"${at}`);
    const kept = await quarantine();
    expect(kept).toHaveLength(200);
    expect([kept[0]?.body, kept[199]?.body]).toEqual(['{"0', '{"199']);
  });

  it('is answered 400 even if it cannot be stored', async () => {
    const other = await openStore(`${newFolder()}/store.db`);
    const broken = { ...other, write: () => Promise.reject(new Error('no room')) };
    const alone = await openReceiver(broken);
    expect((await post(alone.url, '{')).status).toBe(400);
    expect(alone.logged).toEqual(['error could not keep a copy of an unusable webhook']);
    await alone.close();
    await other.close();
  });
});

describe('limits', () => {
  it('answers 415 for a type other than JSON', async () => {
    const headers = { ...KEY, 'content-type': 'text/xml' };
    expect((await send('<x/>', headers)).status).toBe(415);
    expect(await receiver.metrics.registry.metrics()).toContain('cvrsync_webhooks_received_total{result="unreadable"}');
  });

  it('counts a chunked body while it streams, and ends it with 413', async () => {
    const head = `POST /webhook HTTP/1.1\r\nHost: x\r\nX-Webhook-Key: ${OLD.value}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    const heard = await converse(Number(new URL(receiver.url).port), head, ...Array<string>(17).fill(chunk));
    expect(heard).toMatch(/^HTTP\/1\.1 413 /);
    expect(await receipts()).toEqual([]);
  });
});
