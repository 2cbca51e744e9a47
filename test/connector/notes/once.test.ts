/** Exactly once, whatever goes wrong in whatever order. */
import { expect, test } from 'vitest';
import { ProviderError } from '../../../providers/provider.ts';
import { EVENT_NAMES } from '../../../src/protocol/events.ts';
import { payloadOf } from '../../../src/protocol/payload.ts';
import { randomFrom } from '../../../src/protocol/sample/random.ts';
import { ENTITY, reported } from '../../faults/company.ts';
import { sampleStream } from '../../support/sample-stream.ts';
import { newFixture } from '../derived-fixture.ts';

const STATES = ['NORMAL', 'UNDER KONKURS', 'UNDER REKONSTRUKTION', 'OPLØST', 'SLETTET', 'NORMAL'];

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'each event has one note after lost answers, refused calls, cut runs and repeated webhooks (%i)',
  async (seed) => {
    const random = randomFrom(seed);
    const fixture = await newFixture({ engine: 'sqlite', notes: ['status'] });
    await fixture.link('1', ENTITY);
    await fixture.link('2', ENTITY);
    const fail = () => {
      if (random.chance(0.3)) throw new ProviderError('unavailable', 'no answer came');
      if (random.chance(0.1)) throw new ProviderError('rate', 'too many calls', { retryAfterMs: 1_000 });
      if (random.chance(0.1)) throw new Error('a bug, or the end of the process');
    };
    fixture.onAdd = () => {
      fail();
      return random.chance(0.1) ? { kind: 'retry', reason: 'locked' } : undefined;
    };
    fixture.onAdded = fail;
    const events = STATES.slice(1).map((after, index) =>
      reported({ status: { before: STATES[index] ?? '', after } }, index + 1),
    );
    const stream = [...events, ...events].toSorted(() => random.int(-1, 1));
    const turn = async (): Promise<void> => {
      // What a run throws, the worker settles by the end of the lease.
      await fixture.leave().catch(() => undefined);
      fixture.time += 31_000;
    };
    for (const [index, event] of stream.entries()) {
      await fixture.report(event, random.chance(0.5) ? `${index}` : '');
      await turn();
    }
    fixture.onAdd = undefined;
    fixture.onAdded = undefined;
    // Back-off may have grown to a quarter of an hour.
    for (let round = 0; round < 40; round += 1) await turn();
    for (const id of ['1', '2']) {
      const markers = fixture.notes.get(id) ?? [];
      expect(markers).toHaveLength(events.length);
      expect(new Set(markers).size).toBe(events.length);
    }
    expect(await fixture.lanes('note:crm')).toEqual([]);
  },
);

test('no note of a long stream names a person', async () => {
  const fixture = await newFixture({ engine: 'sqlite', notes: EVENT_NAMES });
  const names = new Set<string>();
  const entities = new Set<string>();
  const stream = [...sampleStream(7, 250, { fullStates: 0.1 })].map(({ payload }) => payload);
  for (const { entityId } of stream) entities.add(entityId);
  let index = 0;
  for (const entity of entities) await fixture.link(`${index++}`, entity);
  for (const { entityId, timestamp, updates } of stream) {
    JSON.stringify(updates, (_, value: unknown) => {
      if (typeof value === 'object' && value !== null && 'type' in value && value.type === 'Person' && 'name' in value)
        names.add(String(value.name));
      return value;
    });
    await fixture.report(payloadOf(entityId, timestamp, updates));
  }
  const notes = await fixture.store.db.selectFrom('note').select(['subject', 'body']).execute();
  expect(names.size).toBeGreaterThan(30);
  expect(notes.length).toBeGreaterThan(120);
  const texts = notes.map(({ subject, body }) => `${subject}\n${body}`).join('\n');
  expect([...names].filter((name) => texts.includes(name))).toEqual([]);
  expect(texts).not.toMatch(/CVR-3-|null|undefined|\[object/u);
});
