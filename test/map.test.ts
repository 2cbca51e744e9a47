/** The map of the code says what is there. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDoc, spans, tableIn } from './support/docs.ts';

const ROOT = join(import.meta.dirname, '..');
const MAP = readDoc('src/README.md');

/** The halves, as text. */
const sources = (): readonly { readonly path: string; readonly text: string }[] =>
  ['connector', 'service', 'alerts', 'runtime/backups'].flatMap((half) =>
    readdirSync(join(ROOT, 'src', half), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => ({ path, text: readFileSync(join(ROOT, 'src', half, path), 'utf8') })),
  );

describe('the map of src', () => {
  const rows = tableIn(MAP, 'Folder', 'What lives there', 'May import');

  it('has every folder', () => {
    const folders = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(rows.map((row) => row['Folder']?.replaceAll('`', '')).toSorted()).toEqual(
      folders.map(({ name }) => name).toSorted(),
    );
  });

  it.each(rows.filter((row) => row['May import'] !== 'anything'))('$Folder imports only what its row allows', (row) => {
    const folder = row['Folder']?.replaceAll('`', '') ?? '';
    const allowed = [folder, ...spans(row['May import'] ?? '')];
    for (const file of readdirSync(join(ROOT, 'src', folder), { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts')) continue;
      const path = join(ROOT, 'src', folder, file);
      for (const target of readFileSync(path, 'utf8').match(/(?<=(?:from|import\() ?')\.[^']+/gu) ?? []) {
        const imported = relative(ROOT, join(dirname(path), target)).replace(/^src\//u, '');
        expect(
          allowed.some((one) => imported === one || imported.startsWith(`${one}/`)),
          `${path} imports ${imported}`,
        ).toBe(true);
      }
    }
  });

  it('names only files that exist', () => {
    const named = spans(MAP).filter((span) => /^[\w./-]+\.ts$/u.test(span));
    expect(named.length).toBeGreaterThan(15);
    const places = ['src', '.'];
    for (const name of named)
      expect(
        places.some((place) => existsSync(join(ROOT, place, name))),
        name,
      ).toBe(true);
  });

  it('lists every queue, with a worker that knows it', () => {
    const listed = tableIn(MAP, 'Queue', 'Key', 'Worker').map((row) => ({
      queue: (row['Queue'] ?? '').replaceAll('`', '').replace('<provider>', ''),
      worker: (row['Worker'] ?? '').replaceAll('`', ''),
    }));
    const named = sources().flatMap(({ text }) => [
      ...(text.match(/(?<=_QUEUE = ')[^']+/gu) ?? []),
      ...(text.match(/(?<=\bqueue: ['`])[a-z:-]+/gu) ?? []),
    ]);
    expect(listed.map(({ queue }) => queue).toSorted()).toEqual([...new Set(named)].toSorted());
    for (const { worker } of listed) expect(existsSync(join(ROOT, 'src', worker)), worker).toBe(true);
  });
});
