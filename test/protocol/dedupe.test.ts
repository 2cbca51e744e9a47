import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalBody, dedupeKey } from '../../src/protocol/dedupe.ts';
import { EVENT_NAMES } from '../../src/protocol/events.ts';
import { statesWholeCompany } from '../../src/protocol/full-state.ts';
import { readPayload, writePayload } from '../../src/protocol/payload.ts';
import { samplePayload } from '../../src/protocol/sample/stream.ts';
import { arbitraryPayload } from './arbitrary.ts';

const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, reversed(inner)]),
  );
};
const overTheWire = (value: unknown, indent = 0): unknown => JSON.parse(JSON.stringify(value, null, indent));

describe('the key of a webhook without an id', () => {
  it('is the SHA-256 of the canonical body without entries that are not updated', () => {
    const body = {
      updates: { website: { updated: false }, name: { after: 'B', updated: true, before: 'A' } },
      timestamp: '2026-08-14T09:30:00Z',
      entityId: 'cvr-1-99000015',
    };
    // printf '%s' '{"entityId":"CVR-1-99000015","timestamp":"2026-08-14T09:30:00.000Z","updates":{"name":{"after":"B","before":"A","updated":true}}}' | openssl dgst -sha256 -binary | basenc --base64url
    expect(`${dedupeKey(undefined, body)}=`).toBe('apmoWfcqT95EefV-ZGHjr-_pStzpa3mIv2ACOU-Uxt8=');
  });

  it('stays the same over key order, blanks, case of the entity id, spelling of the time and new false entries', () => {
    fc.assert(
      fc.property(
        arbitraryPayload(),
        fc.array(fc.string({ minLength: 1 }).filter((name) => name !== '__proto__')),
        (payload, names) => {
          const wire = writePayload(payload);
          const more = Object.fromEntries(names.map((name) => [`new ${name}`, { updated: false, before: null }]));
          const again = {
            entityId: wire.entityId.toLowerCase(),
            timestamp: wire.timestamp.replace('Z', '+00:00'),
            updates: { ...more, ...wire.updates },
          };
          expect(dedupeKey(undefined, overTheWire(reversed(again), 2))).toBe(dedupeKey(undefined, overTheWire(wire)));
        },
      ),
      { numRuns: 50 },
    );
  });

  it('differs for another company, time or change, and for unknown events', () => {
    const body = {
      entityId: 'CVR-1-99000015',
      timestamp: '2026-08-14T09:30:00Z',
      updates: { name: { updated: true, after: 'B' } },
    };
    const others = [
      { ...body, entityId: 'CVR-1-99000016' },
      { ...body, timestamp: '2026-08-14T09:30:01Z' },
      { ...body, updates: { name: { updated: true, after: 'C' } } },
      { ...body, updates: { ...body.updates, tomorrow: { updated: true } } },
    ];
    expect(new Set([body, ...others].map((other) => dedupeKey(undefined, other))).size).toBe(5);
  });
});

describe('the key of a webhook with an id', () => {
  it('is the id, whatever the body says, where a signature proves the id', () => {
    expect(dedupeKey(' msg_1 ', { a: 1 }, true)).toBe('msg_1');
    expect(dedupeKey('  ', { a: 1 })).toBe(dedupeKey(undefined, { a: 1 }));
  });

  it('is the id and the body together where nothing proves the id', () => {
    const [one, other] = [1, 2].map((a) => dedupeKey('msg_1', { updates: { a } }));
    expect(one).not.toBe(other);
    expect(dedupeKey(' msg_1 ', { updates: { a: 1 } })).toBe(one);
    expect(
      new Set([one, dedupeKey('msg_2', { updates: { a: 1 } }), dedupeKey(undefined, { updates: { a: 1 } }), 'msg_1'])
        .size,
    ).toBe(4);
  });

  it('is never longer than an index takes', () => {
    const long = dedupeKey('x'.repeat(10_000), {}, true);
    expect(long.length).toBeLessThanOrEqual(200);
    expect(long).not.toBe(dedupeKey('x'.repeat(10_001), {}, true));
  });
});

describe('what the store keeps', () => {
  it('reads back to the same payload, and leaves out what is not updated', () => {
    const payload = samplePayload({ event: 'address', now: 0 });
    const kept = canonicalBody(overTheWire(writePayload(payload)));
    expect(kept).not.toContain('"updated":false');
    expect(readPayload(JSON.parse(kept))).toEqual({ ok: true, payload: { ...payload, stated: ['address'] } });
  });

  it('remembers that a payload stated the whole company, outside of what the key is made of', () => {
    const wire = writePayload(samplePayload({ now: 0 }));
    const kept: unknown = JSON.parse(canonicalBody(overTheWire(wire)));
    const read = readPayload(kept);
    expect(read.ok && read.payload.stated).toEqual(EVENT_NAMES);
    expect(read.ok && statesWholeCompany(read.payload)).toBe(true);
    expect(dedupeKey(undefined, kept)).toBe(dedupeKey(undefined, wire));
  });

  it('keeps fields it does not know', () => {
    expect(canonicalBody({ entityId: 'CVR-1-99000015', timestamp: '2026-08-14', updates: {}, trace: 7 })).toBe(
      '{"entityId":"CVR-1-99000015","timestamp":"2026-08-14T00:00:00.000Z","trace":7,"updates":{}}',
    );
  });
});
