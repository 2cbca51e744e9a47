/** Only what a payload states is stated, and a list known in part is asked for as a full update. */
import { describe, expect, test } from 'vitest';
import { payloadOf, type Updates } from '../../src/protocol/payload.ts';
import { samplePayload } from '../../src/protocol/sample/stream.ts';
import { ENTITY } from '../faults/company.ts';
import { startFixture } from '../support/fixture.ts';
import { serveService } from '../support/service.ts';
import { SUITE_ENGINES } from '../support/stores.ts';

const person = (number: number, name: string) => ({ entityId: `CVR-3-499900000${number}`, name, type: 'Person' });
const anne = person(1, 'Anne Opdigtsen');
const bo = person(2, 'Bo Tænktsen');
const joined = (...added: readonly ReturnType<typeof person>[]) => ({ added: [...added], removed: [] });
const at = (hour: number): string => new Date(Date.UTC(2026, 2, 2, hour)).toISOString();
const whole = (hour: number, board: Updates['board']) => {
  const { board: _, ...updates } = samplePayload({ now: 0 }).updates;
  return payloadOf(ENTITY, at(hour), { ...updates, ...(board && { board }) });
};

describe.each(SUITE_ENGINES)('a full update whose lists are not updated, on %s', (engine) => {
  const BOARD = 'bestyrelse';
  const setUp = async () => {
    const service = await serveService();
    const fixture = await startFixture({
      engine,
      upstream: { baseUrl: service.url, accessKey: service.accessKey },
      hubspot: { properties: [{ name: BOARD, type: 'string' }] },
      connections: { hubspot: { persons: true, fields: { board: BOARD } } },
    });
    const id = await fixture.addLinked('hubspot', ENTITY, {});
    const reported = async (...payloads: readonly ReturnType<typeof whole>[]) => {
      for (const payload of payloads) expect(await fixture.post(payload)).toBe(204);
      await fixture.atRest();
      await fixture.settled();
      return fixture.hubspot.get(id)?.[BOARD] ?? null;
    };
    const asked = () => service.changes.filter((call) => call.endsWith(' +update')).length;
    return { reported, asked };
  };

  test('clears no list in the CRM', async () => {
    const { reported } = await setUp();
    expect(await reported(whole(8, joined(anne, bo)))).toBe('Anne Opdigtsen, Bo Tænktsen');
    expect(await reported(whole(9, undefined))).toBe('Anne Opdigtsen, Bo Tænktsen');
    expect(await reported(whole(10, joined()))).toBeNull();
  });

  test('leaves a list known in part, and requests it from the service once for each assertion', async () => {
    const { reported, asked } = await setUp();
    expect(await reported(payloadOf(ENTITY, at(8), { board: joined(anne) }))).toBeNull();
    expect(asked()).toBe(1);
    // An answer that does not state the list is no reason to ask again, and neither is another field.
    const renamed = payloadOf(ENTITY, at(10), { name: { before: null, after: 'Nordlys ApS' } });
    expect(await reported(whole(9, undefined), renamed)).toBeNull();
    expect(asked()).toBe(1);
    expect(await reported(whole(11, joined(anne, bo)))).toBe('Anne Opdigtsen, Bo Tænktsen');
    expect(await reported(payloadOf(ENTITY, at(12), { board: { added: [], removed: [bo] } }))).toBe('Anne Opdigtsen');
    expect(asked()).toBe(1);
  });
});
