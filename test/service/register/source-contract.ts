/** What every source of register documents promises; each source's test runs it. */
import { expect, it } from 'vitest';
import type { RegisterSource } from '../../../src/service/register/source/source.ts';

/** A source under test, and a hand on what it reads. */
export interface SourceFixture {
  readonly source: RegisterSource;
  /** Opens the same source anew, as after a restart. */
  reopen(): RegisterSource;
  /** The register tells of these documents, after all that it told before. */
  tell(documents: readonly unknown[]): Promise<void>;
  /** Makes the source unreadable until the returned function is called. */
  breakIt(): Promise<() => Promise<void>>;
  /** Lets as much time pass as a poll takes. */
  poll(): void;
  /** A first load from files has no order, and what follows it may begin with the last of it. */
  readonly givesInAnyOrder?: true;
}

/** Documents of one company each, in the order of loading. */
export const documentsFrom = (first: number, count: number): readonly unknown[] =>
  Array.from({ length: count }, (_, index) => ({
    Vrvirksomhed: {
      cvrNummer: 95_000_000 + first + index,
      sidstIndlaest: new Date(Date.UTC(2026, 0, 5) + (first + index) * 1_000).toISOString(),
    },
  }));

/** The numbers that {@link documentsFrom} gave. */
export const numbersIn = (documents: Iterable<unknown>): readonly number[] =>
  Array.from(
    documents,
    (document) => (document as { Vrvirksomhed: { cvrNummer: number } }).Vrvirksomhed.cvrNummer - 95_000_000,
  );

export const upTo = (count: number, first = 0): readonly number[] => Array.from({ length: count }, (_, i) => first + i);

/** Reads on until nothing waits; returns the numbers of the documents, and the last cursor. */
export async function readAll(
  source: RegisterSource,
  from?: string,
): Promise<{ numbers: readonly number[]; cursor: string | undefined; pages: number }> {
  const { signal } = new AbortController();
  const numbers: number[] = [];
  let cursor = from;
  for (let pages = 1; ; pages++) {
    const page = await source.page(cursor, signal);
    numbers.push(...numbersIn(page.documents));
    cursor = page.cursor;
    if (!page.more) return { numbers, cursor, pages };
    if (pages > 200) throw new Error('the source never comes to an end');
  }
}

/** The numbers as they came, or if a source promises no order, each once. */
const inOrder = ({ givesInAnyOrder }: SourceFixture, numbers: readonly number[]): readonly number[] =>
  givesInAnyOrder ? [...new Set(numbers)].sort((a, b) => a - b) : numbers;

/** Registers the promises as tests. `open` makes a fixture whose pages hold four documents at the most. */
export function sourceContract(open: () => Promise<SourceFixture>): void {
  it('returns every document once, in the order of loading, in pages', async () => {
    const fixture = await open();
    await fixture.tell(documentsFrom(0, 10));
    const { numbers, pages } = await readAll(fixture.source);
    expect(inOrder(fixture, numbers)).toEqual(upTo(10));
    expect(pages).toBeGreaterThanOrEqual(3);
  });

  it('ends with a cursor even if there is nothing, and returns later documents later', async () => {
    const fixture = await open();
    const empty = await readAll(fixture.source);
    expect(empty.numbers).toEqual([]);
    await fixture.tell(documentsFrom(0, 3));
    fixture.poll();
    const some = await readAll(fixture.source, empty.cursor);
    expect(inOrder(fixture, some.numbers)).toEqual(upTo(3));
    await fixture.tell(documentsFrom(3, 6));
    fixture.poll();
    const rest = await readAll(fixture.source, some.cursor);
    // What came last may come again.
    expect(inOrder(fixture, [...new Set(rest.numbers)]).filter((number) => number > 2)).toEqual(upTo(6, 3));
  });

  it('resumes from a cursor after a restart, and returns the same page again for the same cursor', async () => {
    const fixture = await open();
    await fixture.tell(documentsFrom(0, 11));
    const { signal } = new AbortController();
    const first = await fixture.source.page(undefined, signal);
    const again = await fixture.reopen().page(undefined, signal);
    expect(numbersIn(again.documents)).toEqual(numbersIn(first.documents));
    const rest = await readAll(fixture.reopen(), first.cursor);
    expect(inOrder(fixture, [...numbersIn(first.documents), ...rest.numbers])).toEqual(upTo(11));
  });

  it('starts over if the cursor is not its own', async () => {
    const fixture = await open();
    await fixture.tell(documentsFrom(0, 3));
    const foreign = await readAll(fixture.source, '{"something":"else"}');
    const none = await readAll(fixture.reopen(), 'no cursor at all');
    for (const { numbers } of [foreign, none]) expect(inOrder(fixture, numbers)).toEqual(upTo(3));
  });

  it('throws a SourceError while it cannot be read, and loses nothing', async () => {
    const fixture = await open();
    await fixture.tell(documentsFrom(0, 9));
    const { signal } = new AbortController();
    const first = await fixture.source.page(undefined, signal);
    const mend = await fixture.breakIt();
    await expect(fixture.source.page(first.cursor, signal)).rejects.toMatchObject({ name: 'SourceError' });
    await expect(fixture.source.page(first.cursor, signal)).rejects.toMatchObject({ name: 'SourceError' });
    await mend();
    const rest = await readAll(fixture.source, first.cursor);
    expect(inOrder(fixture, [...numbersIn(first.documents), ...rest.numbers])).toEqual(upTo(9));
  });

  it('stops at the signal', async () => {
    const fixture = await open();
    await fixture.tell(documentsFrom(0, 3));
    await expect(fixture.source.page(undefined, AbortSignal.abort())).rejects.toThrow();
  });
}
