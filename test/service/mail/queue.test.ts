import { describe, expect, test } from 'vitest';
import { nextDigest, USUAL_DIGEST } from '../../../src/service/mail/digest-hour.ts';
import { MAIL_QUEUE, type MailRow, queueMail, queueNotice, readMailKey } from '../../../src/service/mail/queue.ts';
import { ENGINES, newStore } from '../../support/stores.ts';

const at = (text: string): number => Date.parse(text);
const NOW = at('2026-03-10T12:00:00Z');

describe('the hour of the digest', () => {
  test.each([
    ['in winter', '2026-01-15T05:59:59Z', 7, '2026-01-15T06:00:00Z'],
    ['in summer', '2026-07-15T04:00:00Z', 7, '2026-07-15T05:00:00Z'],
    ['when it has just struck, it is tomorrow', '2026-01-15T06:00:00Z', 7, '2026-01-16T06:00:00Z'],
    ['over the start of summer time', '2026-03-28T12:00:00Z', 7, '2026-03-29T05:00:00Z'],
    ['over its end', '2026-10-24T12:00:00Z', 7, '2026-10-25T06:00:00Z'],
    ['in an hour that spring skips, it is when clocks skip it', '2026-03-29T00:10:00Z', 2, '2026-03-29T01:00:00Z'],
    ['in an hour that autumn repeats, it is the first', '2026-10-24T23:10:00Z', 2, '2026-10-25T00:00:00Z'],
    ['after the first of a repeated hour, it is tomorrow', '2026-10-25T00:30:00Z', 2, '2026-10-26T01:00:00Z'],
    ['at midnight, before midnight in Copenhagen only', '2026-06-30T21:59:00Z', 0, '2026-06-30T22:00:00Z'],
    ['over a new year', '2026-12-31T22:30:00Z', 23, '2027-01-01T22:00:00Z'],
  ])('%s', (_, now, hour, then) => {
    expect(new Date(nextDigest(at(now), { ...USUAL_DIGEST, digestHour: hour })).toISOString()).toBe(
      new Date(then).toISOString(),
    );
  });

  test('is never in the past or more than a day and an hour ahead', () => {
    for (let now = at('2026-01-01T00:00:00Z'); now < at('2027-01-02T00:00:00Z'); now += 1_799_000)
      for (const hour of [0, 2, 3, 7, 23]) {
        const next = nextDigest(now, { ...USUAL_DIGEST, digestHour: hour });
        expect(next).toBeGreaterThan(now);
        expect(next - now).toBeLessThanOrEqual(25 * 3_600_000);
      }
  });
});

describe.each(ENGINES)('queueing mail on %s', (engine) => {
  const row = (more: Partial<MailRow> = {}): MailRow => ({
    monitor: 'm1',
    recipients: ['bo@example.dk'],
    frequency: 'immediate',
    change: 1,
    events: ['name'],
    ...more,
  });
  const rowsOf = async (store: Awaited<ReturnType<typeof newStore>>) =>
    store.db.selectFrom('mail').select(['monitor', 'recipient', 'kind', 'change', 'body']).orderBy('seq').execute();
  const lanesOf = async (store: Awaited<ReturnType<typeof newStore>>) =>
    store.db.selectFrom('lane').select(['key', 'due_at']).where('queue', '=', MAIL_QUEUE).orderBy('key').execute();

  test('makes immediate mail due now, and daily mail at its hour', async () => {
    const store = await newStore(engine);
    await store.write((tx) =>
      queueMail(tx, [row(), row({ monitor: 'm2', frequency: 'daily', recipients: ['a@x.dk', 'b@x.dk'] })], NOW),
    );
    const digest = at('2026-03-11T06:00:00Z');
    expect(await lanesOf(store)).toEqual([
      { key: 'm1 bo@example.dk', due_at: NOW },
      { key: 'm2 a@x.dk', due_at: digest },
      { key: 'm2 b@x.dk', due_at: digest },
    ]);
    expect(await rowsOf(store)).toHaveLength(3);
    expect(readMailKey('m2 a@x.dk')).toEqual({ monitor: 'm2', recipient: 'a@x.dk' });
  });

  test('queues the same change once for a recipient of a monitor', async () => {
    const store = await newStore(engine);
    await store.write((tx) => queueMail(tx, [row(), row()], NOW));
    await store.write((tx) => queueMail(tx, [row()], NOW));
    expect(await rowsOf(store)).toEqual([
      { monitor: 'm1', recipient: 'bo@example.dk', kind: 'immediate', change: 1, body: '{"events":["name"]}' },
    ]);
  });

  test('skips an unsubscribed address in any spelling, and queues the others', async () => {
    const store = await newStore(engine);
    await store.write(async (tx) => {
      await tx.insertInto('unsubscribed').values({ monitor: 'm1', recipient: 'bo@example.dk', at: 1 }).execute();
      await queueMail(tx, [row({ recipients: ['Bo@Example.dk', 'ida@example.dk'] }), row({ monitor: 'm2' })], NOW);
      await queueNotice(tx, { monitor: 'm1', recipients: ['bo@example.dk'], subject: 's', text: 't' }, NOW);
    });
    const kept = await rowsOf(store);
    expect(kept.map(({ monitor, recipient }) => `${monitor} ${recipient}`)).toEqual([
      'm1 ida@example.dk',
      'm2 bo@example.dk',
    ]);
    expect((await lanesOf(store)).map(({ key }) => key)).toEqual(['m1 ida@example.dk', 'm2 bo@example.dk']);
  });

  test('keeps two notices apart, and queues each once for a recipient named twice', async () => {
    const store = await newStore(engine);
    for (const subject of ['first', 'second'])
      await store.write((tx) =>
        queueNotice(tx, { monitor: 'm1', recipients: ['a@x.dk', 'a@x.dk'], subject, text: 't' }, NOW),
      );
    expect((await rowsOf(store)).map(({ kind, body }) => [kind, JSON.parse(body).subject])).toEqual([
      ['notice', 'first'],
      ['notice', 'second'],
    ]);
  });

  test('queues mail of ten thousand monitors together', async () => {
    const store = await newStore(engine);
    const rows = Array.from({ length: 10_000 }, (_, index) => row({ monitor: `m${index}` }));
    await store.write((tx) => queueMail(tx, rows, NOW));
    expect(await rowsOf(store)).toHaveLength(10_000);
    expect(await lanesOf(store)).toHaveLength(10_000);
  });
});
