import { describe, expect, it } from 'vitest';
import type { HandClock } from '../../../support/clock.ts';
import { fixtureOf, HOUR, MINUTE, POLL_MS } from '../cvr-fixture.ts';
import { documentsFrom, numbersIn, readAll, sourceContract, upTo } from '../source-contract.ts';

/** A document loaded some ms before (or after) the fixture's now. */
const loaded = (clock: HandClock, number: number, before: number): unknown => ({
  Vrvirksomhed: { cvrNummer: 95_000_000 + number, sidstIndlaest: new Date(clock.now() - before).toISOString() },
});

/** A whole answer without a document. */
const WHOLE = { timed_out: false, _shards: { total: 6, successful: 6, failed: 0 }, hits: { hits: [] } };

const documentNumbers = ({ documents }: { readonly documents: Iterable<unknown> }) => numbersIn(documents);

describe('the distribution, Elasticsearch 6', () => sourceContract(() => fixtureOf()));
describe('the distribution, with totals as Elasticsearch 7 gives them', () =>
  sourceContract(() => fixtureOf({}, { totals: 'object' })));

describe('what the register answers', () => {
  const status = (code: number, headers = {}) => ({ kind: 'status', status: code, headers }) as const;
  it.each([
    ['429', status(429, { 'retry-after': '7' }), { retryAfterMs: 7_000 }],
    ['429 until a day', status(429, { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' }), { retryAfterMs: 3_600_000 }],
    ['500', status(500), { message: expect.stringContaining('500') }],
    [
      'a redirect',
      status(302, { location: 'http://elsewhere.example' }),
      { message: expect.stringContaining('redirect') },
    ],
    ['an answer that is cut', { kind: 'cut' }, { message: expect.stringContaining('cut') }],
    ['a reset', { kind: 'reset' }, { message: expect.any(String) }],
    [
      'half of the JSON as if it were whole',
      { kind: 'status', status: 200, body: '{"hits":{"hits":[{"_so' },
      { message: expect.stringContaining('JSON') },
    ],
    [
      'something else',
      { kind: 'status', status: 200, body: { hello: 1 } },
      { message: expect.stringContaining('no search result') },
    ],
    [
      'an answer that ran out of time',
      { kind: 'status', status: 200, body: { ...WHOLE, timed_out: true } },
      { message: expect.stringContaining('part') },
    ],
    [
      'an answer that ended early',
      { kind: 'status', status: 200, body: { ...WHOLE, terminated_early: true } },
      { message: expect.stringContaining('part') },
    ],
    [
      'an answer with a failed shard',
      { kind: 'status', status: 200, body: { ...WHOLE, _shards: { total: 6, successful: 5, failed: 1 } } },
      { message: 'the register answered from 5 of its 6 parts' },
    ],
    [
      'an answer without a shard that counts as neither successful nor failed',
      { kind: 'status', status: 200, body: { ...WHOLE, _shards: { total: 6, successful: 5, failed: 0 } } },
      { message: 'the register answered from 5 of its 6 parts' },
    ],
    [
      'an answer that says nothing of shards',
      { kind: 'status', status: 200, body: { timed_out: false, hits: { hits: [] } } },
      { message: expect.stringContaining('parts') },
    ],
  ] as const)('treats %s as an outage, not as data', async (_, action, error) => {
    const { emulator, source, page, tell, clock } = await fixtureOf();
    await tell(documentsFrom(0, 3));
    emulator.fault({ match: '_search', action });
    await expect(page()).rejects.toMatchObject({ name: 'SourceError', ...error });
    clock.forward(2 * HOUR);
    expect((await readAll(source)).numbers).toEqual(upTo(3));
  });

  it('treats an answer with skipped shards as complete, because they count as successful', async () => {
    const { emulator, page } = await fixtureOf();
    const body = { ...WHOLE, _shards: { total: 6, successful: 6, skipped: 4, failed: 0 } };
    emulator.fault({ match: '_search', action: { kind: 'status', status: 200, body } });
    await expect(page()).resolves.toMatchObject({ more: true });
  });

  it('hangs: gives up at the deadline', async () => {
    const { emulator, page } = await fixtureOf({}, {}, { deadlineMs: 60 });
    emulator.fault({ match: '_search', action: { kind: 'hang' } });
    await expect(page()).rejects.toMatchObject({ name: 'SourceError' });
  });

  it('401: says that the user name or password is wrong, and never what they are', async () => {
    const { page } = await fixtureOf({ password: 'not-the-password' });
    const error: unknown = await page().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'SourceError', message: expect.stringContaining('user name or password') });
    expect(String(error)).not.toContain('not-the-password');
  });

  it('404: says to check the address', async () => {
    const { page, emulator } = await fixtureOf();
    emulator.fault({ match: '_search', action: status(404) });
    await expect(page()).rejects.toThrow(/service\.register\.baseUrl/);
  });

  it('requests less after an answer that is too large, until it fits, without waiting in between', async () => {
    const { source, tell } = await fixtureOf({ pageSize: 64 }, {}, { maxBytes: 2_500 });
    await tell(documentsFrom(0, 30));
    expect((await readAll(source)).numbers).toEqual(upTo(30));
  });

  it('accepts hits in any order, and treats one without a document as broken', async () => {
    const { emulator, page, source, tell } = await fixtureOf();
    await tell(documentsFrom(0, 9));
    emulator.disturb = (hits) => [{ _id: '17', sort: [1, '1'] }, ...hits.toReversed()];
    const first = await page();
    expect(first.broken).toMatchObject([{ where: '17' }]);
    expect([...first.documents]).toHaveLength(4);
    emulator.disturb = undefined;
    expect((await readAll(source, first.cursor)).numbers).toEqual(upTo(5, 4));
  });

  it('waits if the same page is repeated', async () => {
    const { emulator, page, tell } = await fixtureOf();
    await tell(documentsFrom(0, 9));
    let kept: readonly unknown[] | undefined;
    emulator.disturb = (hits) => {
      kept ??= hits;
      return kept;
    };
    const { cursor } = await page();
    const second = await page(cursor);
    await expect(page(second.cursor)).rejects.toMatchObject({ name: 'SourceError' });
  });
});

describe('time', () => {
  it('finds a document that was indexed minutes after its own time', async () => {
    const { tell, source, clock, poll } = await fixtureOf();
    await tell([loaded(clock, 1, MINUTE)]);
    const { cursor } = await readAll(source);
    await tell([loaded(clock, 0, 3 * MINUTE)]);
    poll();
    expect((await readAll(source, cursor)).numbers).toContain(0);
  });

  it('finds within a day a document that was indexed hours late', async () => {
    const { tell, source, clock } = await fixtureOf();
    await tell([loaded(clock, 1, 0)]);
    let { cursor } = await readAll(source);
    await tell([loaded(clock, 0, 3 * HOUR)]);
    clock.forward(HOUR);
    const soon = await readAll(source, cursor);
    expect(soon.numbers).not.toContain(0);
    clock.forward(24 * HOUR);
    ({ cursor } = soon);
    // The sweep begins where the one before it began, so what was late then is seen by the second.
    const swept = await readAll(source, cursor);
    expect(swept.numbers).toContain(1);
  });

  it('does not advance to a document from the future', async () => {
    const { tell, source, clock, poll } = await fixtureOf();
    await tell([loaded(clock, 7, -1_000 * HOUR)]);
    let { cursor } = await readAll(source);
    for (const number of [1, 2]) {
      await tell([loaded(clock, number, 0)]);
      poll();
      const read = await readAll(source, cursor);
      expect(read.numbers).toContain(number);
      ({ cursor } = read);
    }
  });

  it('does not repeat known documents once they are some minutes old', async () => {
    const { tell, source, clock, poll } = await fixtureOf({ pageSize: 100 });
    await tell(upTo(50).map((number) => loaded(clock, number, 10 * MINUTE + number)));
    const { cursor } = await readAll(source);
    poll();
    expect((await readAll(source, cursor)).numbers).toEqual([]);
  });

  it('reports of each part how far it is read and whether more waits', async () => {
    const { source, page, tell, clock } = await fixtureOf();
    const began = clock.now();
    const at = (days: number) => began - days * 24 * HOUR;
    const unit = (number: number, days: number) => ({
      Vrvirksomhed: { cvrNummer: 95_000_000 + number, sidstIndlaest: new Date(at(days)).toISOString() },
    });
    await tell([9, 8, 7, 6, 5].map((days, number) => unit(number, days)));
    const companies = (cursor: string) => source.parts?.(cursor)['companies'];
    let { cursor } = await page();
    expect(companies(cursor)).toMatchObject({ loadedUntil: at(6), more: true });
    expect(companies(cursor)?.readAt).toBeGreaterThanOrEqual(began);
    expect(source.parts?.(cursor)['production units']).toMatchObject({ readAt: 0, more: false });
    while (companies(cursor)?.more) ({ cursor } = await page(cursor));
    expect(companies(cursor)).toMatchObject({ loadedUntil: at(5), more: false });
  });

  it('begins at the configured time', async () => {
    const { source, tell } = await fixtureOf({ since: '2026-01-05T00:00:05Z' });
    await tell(documentsFrom(0, 9));
    expect((await readAll(source)).numbers).toEqual(upTo(4, 5));
    await expect(fixtureOf({ since: 'yesterday' })).rejects.toThrow(/service\.register\.since/);
  });

  it('misses no document after an outage of hours amid its newest documents', async () => {
    const { tell, page, source, clock, emulator } = await fixtureOf();
    await tell(upTo(6).map((number) => loaded(clock, number, MINUTE - number)));
    const first = await page();
    // Findable only now, between what was read.
    await tell([loaded(clock, 20, MINUTE - 1)]);
    clock.forward(5 * HOUR);
    emulator.fault({ match: '_search', times: 1, action: { kind: 'status', status: 503 } });
    await expect(page(first.cursor)).rejects.toMatchObject({ name: 'SourceError' });
    const rest = await readAll(source, first.cursor);
    clock.forward(POLL_MS);
    const next = await readAll(source, rest.cursor);
    expect([...rest.numbers, ...next.numbers]).toContain(20);
  });
});

describe('production units', () => {
  it('are read in turns with the companies, even if many of those wait', async () => {
    const { emulator, page } = await fixtureOf({}, { companies: 12 });
    const kinds: string[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < 4; pages++) {
      const read = await page(cursor);
      kinds.push(...new Set([...read.documents].map((document) => Object.keys(document as object)[0] ?? '')));
      ({ cursor } = read);
    }
    expect(emulator.documents.produktionsenhed.size).toBeGreaterThan(9);
    expect(kinds).toEqual(['Vrvirksomhed', 'VrproduktionsEnhed', 'Vrvirksomhed', 'VrproduktionsEnhed']);
  });
});

describe('a sweep', () => {
  it('returns everything once more, with new documents first', async () => {
    const { source, page, tell, clock, poll } = await fixtureOf();
    await tell(documentsFrom(0, 9));
    const { cursor } = await readAll(source);
    await tell([loaded(clock, 20, 0)]);
    poll();
    let at = await page(source.sweep?.(cursor ?? ''));
    expect(source.parts?.(at.cursor)['companies']).toMatchObject({ more: true });
    const numbers = [...documentNumbers(at)];
    while (at.more) {
      at = await page(at.cursor);
      numbers.push(...documentNumbers(at));
    }
    expect(numbers).toEqual([20, ...upTo(9), 20]);
    expect(source.parts?.(at.cursor)['companies']).toMatchObject({ more: false });
  });

  it('counts what it would return', async () => {
    const { source, tell } = await fixtureOf({ since: '2026-01-05T00:00:05Z' });
    await tell(documentsFrom(0, 9));
    expect(await source.count?.(new AbortController().signal)).toEqual({ companies: 4, 'production units': 0 });
  });
});

describe('politeness', () => {
  it('keeps its limit of calls a second', async () => {
    const { source, tell, emulator } = await fixtureOf({ requestsPerSecond: 20 });
    await tell(documentsFrom(0, 24));
    const began = performance.now();
    await readAll(source);
    expect((performance.now() - began) / 1_000).toBeGreaterThan((emulator.calls.length - 2) / 20);
  });
});
