import { appendFile, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFileSource, type FileSourceOptions } from '../../../../src/service/register/source/file.ts';
import { handClock } from '../../../support/clock.ts';
import { newFolder } from '../../../support/stores.ts';
import { documentsFrom, readAll, type SourceFixture, sourceContract, upTo } from '../source-contract.ts';

const lines = (documents: readonly unknown[]): string => documents.map((one) => `${JSON.stringify(one)}\n`).join('');

/** A fixture whose `tell` writes with `write`. */
async function fixtureOf(write: (path: string, documents: readonly unknown[]) => Promise<void>, path = newFolder()) {
  const open = () => createFileSource(path, { pageSize: 4 });
  return {
    source: open(),
    reopen: open,
    tell: (documents: readonly unknown[]) => write(path, documents),
    async breakIt() {
      await rename(path, `${path}-away`);
      return () => rename(`${path}-away`, path);
    },
    poll() {},
  } satisfies SourceFixture;
}

const numbered = (first: unknown): string =>
  String((first as { Vrvirksomhed: { cvrNummer: number } }).Vrvirksomhed.cvrNummer);

describe('a folder with a document a file', () => {
  sourceContract(() =>
    fixtureOf(async (path, documents) => {
      for (const one of documents) await writeFile(join(path, `${numbered(one)}.json`), JSON.stringify(one, null, 2));
    }),
  );
});

describe('a folder with Elasticsearch answers and lists', () => {
  sourceContract(() =>
    fixtureOf(async (path, documents) => {
      const hits = documents.slice(0, 6).map((one) => ({ _id: '1', _source: one }));
      await writeFile(join(path, `${numbered(documents[0])}.json`), JSON.stringify({ hits: { total: 6, hits } }));
      if (documents.length > 6)
        await writeFile(join(path, `${numbered(documents[6])}.json`), JSON.stringify(documents.slice(6)));
    }),
  );
});

describe('one NDJSON file that grows', () => {
  sourceContract(async () => {
    const path = join(newFolder(), 'register.ndjson');
    await writeFile(path, '');
    return fixtureOf((file, documents) => appendFile(file, lines(documents)), path);
  });
});

async function fileStage(options: FileSourceOptions = {}) {
  const folder = newFolder();
  const clock = handClock();
  const source = createFileSource(folder, { pageSize: 4, now: clock.now, ...options });
  const { signal } = new AbortController();
  return {
    folder,
    clock,
    source,
    write: (name: string, text: string) => writeFile(join(folder, name), text),
    page: (cursor?: string) => source.page(cursor, signal),
  };
}

const [ONE, TWO, THREE] = documentsFrom(0, 3).map((one) => JSON.stringify(one));

describe('incomplete files', () => {
  it('waits for the rest of a half-written line, and reads a last line without an end', async () => {
    const { write, source, page } = await fileStage();
    await write('a.ndjson', `${ONE}\n${TWO?.slice(0, 30)}`);
    const first = await readAll(source);
    expect(first.numbers).toEqual([0]);
    expect((await page(first.cursor)).documents).toEqual([]);
    await write('a.ndjson', `${ONE}\n${TWO}\n${THREE}`);
    expect((await readAll(source, first.cursor)).numbers).toEqual([1, 2]);
  });

  it('quarantines half a line after a minute without writes, and continues after it', async () => {
    const { write, page, clock, source, folder } = await fileStage();
    await write('a.ndjson', `${ONE}\n${TWO?.slice(0, 30)}`);
    const { cursor } = await readAll(source);
    clock.forward(61_000);
    const late = await page(cursor);
    expect(late.broken).toEqual([
      {
        where: expect.stringMatching(/^a\.ndjson, byte \d+$/),
        reason: expect.stringContaining('no JSON'),
        text: TWO?.slice(0, 30),
      },
    ]);
    await appendFile(join(folder, 'a.ndjson'), `\n${THREE}\n`);
    expect((await readAll(source, late.cursor)).numbers).toEqual([2]);
  });

  it('waits as long if the clock that dates files is behind ours', async () => {
    const { write, page, clock, source, folder } = await fileStage();
    clock.forward(120_000);
    await write('a.ndjson', `${ONE}\n${TWO?.slice(0, 30)}`);
    const { cursor, broken } = await page();
    expect(broken).toEqual([]);
    clock.forward(59_000);
    expect((await page(cursor)).broken).toEqual([]);
    await appendFile(join(folder, 'a.ndjson'), `${TWO?.slice(30)}\n`);
    expect((await readAll(source, cursor)).numbers).toEqual([1]);
  });

  it('quarantines a broken line at once if others follow it', async () => {
    const { write, page } = await fileStage();
    await write('a.ndjson', `${ONE}\n{"half": \n\n${TWO}\n`);
    const { documents, broken } = await page();
    expect(documents).toHaveLength(2);
    expect(broken).toMatchObject([{ where: `a.ndjson, byte ${(ONE?.length ?? 0) + 1}` }]);
  });

  it('waits for a half-copied file, and quarantines it when newer ones follow', async () => {
    const { write, source, page } = await fileStage();
    await write('1.json', ONE ?? '');
    await write('2.json', TWO?.slice(0, 40) ?? '');
    const first = await readAll(source);
    expect(first.numbers).toEqual([0]);
    expect((await page(first.cursor)).broken).toEqual([]);
    await write('3.json', THREE ?? '');
    const next = await page(first.cursor);
    expect(next.broken).toMatchObject([{ where: '2.json' }]);
    expect(next.documents).toHaveLength(1);
  });

  it('reads the whole file once it is complete', async () => {
    const { write, source } = await fileStage();
    await write('1.json', ONE?.slice(0, 40) ?? '');
    const first = await readAll(source);
    await write('1.json', ONE ?? '');
    expect((await readAll(source, first.cursor)).numbers).toEqual([0]);
  });

  it('skips a line that is too long for memory, and continues after it', async () => {
    const { write, page } = await fileStage({ maxBytes: 500_000 });
    await write('a.ndjson', `"${'x'.repeat(600_000)}"\n${ONE}\n`);
    const { documents, broken } = await page();
    expect(documents).toHaveLength(1);
    expect(broken).toMatchObject([{ reason: 'is a line of more than 500000 bytes' }]);
  });

  it('reads a file from its beginning if it is shorter than before', async () => {
    const { write, source } = await fileStage();
    await write('a.ndjson', `${ONE}\n${TWO}\n`);
    const { cursor } = await readAll(source);
    await write('a.ndjson', `${THREE}\n`);
    expect((await readAll(source, cursor)).numbers).toEqual([2]);
  });
});

describe('a folder', () => {
  it('is read in the order of names, without dot files, other endings and folders', async () => {
    const { write, source, folder } = await fileStage();
    await mkdir(join(folder, 'more.json'));
    await write('10.json', TWO ?? '');
    await write('09.ndjson', `\uFEFF${ONE}\r\n`);
    await write('.11.json', THREE ?? '');
    await write('README.md', 'no document');
    expect((await readAll(source)).numbers).toEqual([0, 1]);
  });

  it('limits a page by its bytes too', async () => {
    const { write, page } = await fileStage({ pageSize: 1_000, pageBytes: 100 });
    await write('a.ndjson', lines(documentsFrom(0, 5)));
    const { documents, more } = await page();
    expect([...documents].length).toBeLessThan(3);
    expect(more).toBe(true);
  });

  it('streams a large file: a page of it needs no more memory than its lines', async () => {
    const { write, source } = await fileStage({ pageSize: 1_000 });
    await write('a.ndjson', lines(documentsFrom(0, 20_000)));
    const { numbers, pages } = await readAll(source);
    expect(numbers).toEqual(upTo(20_000));
    expect(pages).toBe(21);
  });

  it('names a path that cannot be read', async () => {
    const source = createFileSource(join(newFolder(), 'nothing'));
    await expect(source.page(undefined, new AbortController().signal)).rejects.toThrow(
      /nothing.*service\.register\.path/,
    );
  });
});
