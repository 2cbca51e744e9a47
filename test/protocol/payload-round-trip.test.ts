import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENT_NAMES, EVENTS } from '../../src/protocol/events.ts';
import { payloadOf, readPayload, writePayload } from '../../src/protocol/payload.ts';
import { arbitraryOf, arbitraryPayload } from './arbitrary.ts';

const overTheWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const AT = '2026-08-14T09:30:00.000Z';

describe('a payload that was written', () => {
  it.each(EVENT_NAMES)('is read back the same: %s', (event) => {
    fc.assert(
      fc.property(arbitraryOf(EVENTS[event]), (data) => {
        const payload = payloadOf('CVR-1-99000016', AT, { [event]: data });
        expect(readPayload(overTheWire(writePayload(payload)))).toEqual({ ok: true, payload });
      }),
      { numRuns: 30 },
    );
  });

  it('is read back the same with any number of events, and with another name for the e-mail event', () => {
    fc.assert(
      fc.property(arbitraryPayload(), fc.constantFrom('email', 'mail', 'emailAddress'), (payload, emailEvent) => {
        expect(readPayload(overTheWire(writePayload(payload, { emailEvent })), { emailEvent })).toEqual({
          ok: true,
          payload,
        });
      }),
      { numRuns: 30 },
    );
  });

  it('names every event of the specification, 38 in all', () => {
    const wire = writePayload(payloadOf('CVR-1-99000016', AT, { name: { before: 'A', after: 'B' } }));
    expect(Object.keys(wire.updates).sort()).toEqual([...EVENT_NAMES].sort());
    expect(EVENT_NAMES).toHaveLength(38);
    expect(wire.updates['name']).toEqual({ updated: true, before: 'A', after: 'B' });
    expect(wire.updates['board']).toEqual({ updated: false });
  });

  it('names the e-mail event as configured, and only so', () => {
    const wire = writePayload(payloadOf('CVR-1-99000016', AT, { email: { before: null, after: 'a@b.example' } }), {
      emailEvent: 'mail',
    });
    expect(wire.updates['mail']).toEqual({ updated: true, before: null, after: 'a@b.example' });
    expect(Object.hasOwn(wire.updates, 'email')).toBe(false);
  });

  it('passes entries of unknown name on', () => {
    const unknown = { tomorrow: { updated: true, anything: [1] } };
    const payload = { ...payloadOf('CVR-1-99000016', AT, {}), unknown };
    expect(readPayload(overTheWire(writePayload(payload)))).toEqual({ ok: true, payload });
  });
});
