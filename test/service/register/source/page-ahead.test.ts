import { expect, test } from 'vitest';
import { withPageAhead } from '../../../../src/service/register/source/page-ahead.ts';
import { type RegisterSource, SourceError, type SourcePage } from '../../../../src/service/register/source/source.ts';

type Answer = (signal: AbortSignal) => Promise<SourcePage>;

/** A source of numbered pages, without end but for `answers` by cursor; it notes what it is asked, and when two are under way. */
function numbered(answers: Readonly<Record<string, Answer>> = {}) {
  const asked: (string | undefined)[] = [];
  const cut: string[] = [];
  let underWay = 0;
  let most = 0;
  const source: RegisterSource = {
    name: 'numbered',
    origin: 'cvr',
    families: [],
    async page(cursor, signal) {
      asked.push(cursor);
      const onAbort = () => cut.push(String(cursor));
      signal.addEventListener('abort', onAbort);
      most = Math.max(most, ++underWay);
      try {
        const answer = answers[String(cursor)];
        if (answer !== undefined) return await answer(signal);
        const next = Number(cursor ?? 0) + 1;
        return { documents: [next], cursor: String(next), more: true };
      } finally {
        underWay--;
        signal.removeEventListener('abort', onAbort);
      }
    },
  };
  return { source, asked, cut, most: () => most };
}

/** Waits until it is cut off. */
const silent: Answer = (signal) =>
  new Promise((_, reject) => {
    const end = () => reject(new Error('cut off'));
    if (signal.aborted) end();
    else signal.addEventListener('abort', end);
  });

const alive = () => new AbortController().signal;

test('the next page is requested once, when the previous one has arrived', async () => {
  const { source, asked } = numbered();
  const pages = withPageAhead(source);
  expect([...(await pages.page(undefined, alive())).documents]).toEqual([1]);
  expect(asked).toEqual([undefined, '1']);
  expect([...(await pages.page('1', alive())).documents]).toEqual([2]);
  expect(asked).toEqual([undefined, '1', '2']);
});

test('nothing is requested ahead if nothing waits, or a part of the source is in trouble', async () => {
  const { source, asked } = numbered({
    undefined: async () => ({ documents: [], cursor: '1', more: false }),
    1: async () => ({ documents: [], cursor: '2', more: true, trouble: 'an index does not answer' }),
  });
  const pages = withPageAhead(source);
  await pages.page(undefined, alive());
  await pages.page('1', alive());
  expect(asked).toEqual([undefined, '1']);
});

test('a page that failed ahead fails once for its caller, and is then requested again', async () => {
  let failures = 1;
  const { source, asked } = numbered({
    1: async () => {
      if (failures-- > 0) throw new SourceError('the register answered 503');
      return { documents: ['late'], cursor: '2', more: true };
    },
  });
  const pages = withPageAhead(source);
  await pages.page(undefined, alive());
  await expect(pages.page('1', alive())).rejects.toThrow('the register answered 503');
  expect([...(await pages.page('1', alive())).documents]).toEqual(['late']);
  expect(asked).toEqual([undefined, '1', '1', '2']);
});

test('a late page is awaited, not requested again', async () => {
  const answer = Promise.withResolvers<SourcePage>();
  const { source, asked } = numbered({ 1: () => answer.promise });
  const pages = withPageAhead(source);
  await pages.page(undefined, alive());
  const late = pages.page('1', alive());
  answer.resolve({ documents: ['late'], cursor: '2', more: false });
  expect([...(await late).documents]).toEqual(['late']);
  expect(asked).toEqual([undefined, '1']);
});

test('a reset of the cursor ends the page ahead, which is never returned', async () => {
  const { source, asked, cut, most } = numbered({ 1: silent });
  const pages = withPageAhead(source);
  await pages.page(undefined, alive());
  expect([...(await pages.page(undefined, alive())).documents]).toEqual([1]);
  expect(cut).toEqual(['1']);
  expect(asked).toEqual([undefined, '1', undefined, '1']);
  expect(most()).toBe(1);
});

test('the page ahead ends with the run that requested it, so that a stopping process does not wait', async () => {
  const { source, cut } = numbered({ 1: silent });
  const pages = withPageAhead(source);
  const run = new AbortController();
  await pages.page(undefined, run.signal);
  run.abort();
  expect(cut).toEqual(['1']);
  await expect(pages.page('1', AbortSignal.timeout(1))).rejects.toThrow('cut off');
});

test('a caller stops waiting for the page ahead at its own signal', async () => {
  const { source } = numbered({ 1: silent });
  const pages = withPageAhead(source);
  await pages.page(undefined, alive());
  const run = new AbortController();
  const waiting = pages.page('1', run.signal);
  run.abort();
  await expect(waiting).rejects.toThrow();
});

test('an unused page is dropped, because another process took the lane and reads on', async () => {
  const { source, cut } = numbered({ 1: silent });
  const pages = withPageAhead(source, 5);
  await pages.page(undefined, alive());
  await expect.poll(() => cut).toEqual(['1']);
});

test('closing ends the page ahead', async () => {
  const { source, cut } = numbered({ 1: silent });
  const pages = withPageAhead(source);
  await pages.page(undefined, alive());
  await pages.close?.();
  expect(cut).toEqual(['1']);
});
