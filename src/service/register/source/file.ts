/**
 * A source that reads files: a folder of register documents in the order of the names, or one file.
 *
 * A `.json` file holds one document, a list of them or an Elasticsearch answer; `.ndjson` and `.jsonl` one a line. A file
 * is not changed once it is written, except that lines may be added to the last one, and a new file's name sorts behind
 * the others.
 */
import { open as openFile, readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isJsonObject } from '../../../protocol/text/json.ts';
import { ALL_FAMILIES } from '../document/families.ts';
import { linesFrom } from './lines.ts';
import { brokenText, documentsIn, type RegisterSource, SourceError, type UnreadableDocument } from './source.ts';

export interface FileSourceOptions {
  /** Documents a page, 500 where absent. */
  readonly pageSize?: number;
  /** Bytes of a page's files or lines after which it ends; 8 MiB where absent. */
  readonly pageBytes?: number;
  /** How long the last file may stay as it is while it cannot be read, before it is set aside; 60 s where absent. */
  readonly patienceMs?: number;
  /** Bytes of one line, and of one `.json` file; 256 MiB where absent. */
  readonly maxBytes?: number;
  readonly now?: () => number;
}

/** How far the reading is: `at` counts bytes in a file of lines, documents in another. */
interface Place {
  readonly path: string;
  readonly file: string;
  readonly at: number;
  readonly done: boolean;
}

/** What one file gave. `waits`: its end is half written. */
interface Taken {
  readonly at: number;
  readonly end: 'read' | 'full' | 'waits';
}

const LINES = /\.(?:ndjson|jsonl)$/i;
const KNOWN = /\.(?:json|ndjson|jsonl)$/i;

/** Opens nothing until a page is asked for; the cursor says which file and how far into it. */
export function createFileSource(path: string, options: FileSourceOptions = {}): RegisterSource {
  const { pageSize = 500, pageBytes = 8 << 20, patienceMs = 60_000, maxBytes = 256 << 20, now = Date.now } = options;
  /** The last `.json` file, while a page ends amid its documents. */
  let open: { readonly key: string; readonly documents: readonly unknown[] } | undefined;

  async function takeWhole(file: string, from: number, isLast: boolean, page: Page): Promise<Taken> {
    const name = basename(file);
    const { size, mtimeMs } = await stat(file);
    const key = `${file} ${size} ${mtimeMs}`;
    let documents = open?.key === key ? open.documents : undefined;
    if (documents === undefined) {
      if (size > maxBytes) {
        page.broken.push(brokenText(name, `has ${size} bytes: give large files as NDJSON, one document a line`, ''));
        return { at: 0, end: 'read' };
      }
      const text = (await readFile(file, 'utf8')).replace(/^\uFEFF/, '');
      const parsed = parse(text);
      if (!parsed.ok) {
        if (isLast && now() - mtimeMs < patienceMs) return { at: from, end: 'waits' };
        page.broken.push(brokenText(name, parsed.reason, text));
        return { at: 0, end: 'read' };
      }
      page.bytes += size;
      documents = documentsIn(parsed.json);
    }
    const taken = documents.slice(from, from + pageSize - page.documents.length);
    page.documents.push(...taken);
    const at = from + taken.length;
    open = at < documents.length ? { key, documents } : undefined;
    return { at, end: at < documents.length ? 'full' : 'read' };
  }

  async function takeLines(file: string, from: number, isLast: boolean, page: Page): Promise<Taken> {
    const handle = await openFile(file, 'r');
    try {
      const { size, mtimeMs } = await handle.stat();
      // A file that is shorter than what was read of it is another one.
      let at = from > size ? 0 : from;
      for await (const line of linesFrom(handle, at, maxBytes)) {
        const text = line.text?.replace(/^\uFEFF/, '').trim();
        const where = `${basename(file)}, byte ${at}`;
        if (text === undefined) page.broken.push(brokenText(where, `is a line of more than ${maxBytes} bytes`, ''));
        else if (text !== '') {
          const parsed = parse(text);
          if (parsed.ok) page.documents.push(...documentsIn(parsed.json));
          else if (!line.ended && isLast && now() - mtimeMs < patienceMs) return { at, end: 'waits' };
          else page.broken.push(brokenText(where, parsed.reason, text));
        }
        page.bytes += line.end - at;
        at = line.end;
        if (isFull(page)) return { at, end: 'full' };
      }
      return { at, end: 'read' };
    } finally {
      await handle.close();
    }
  }

  const isFull = (page: Page): boolean =>
    page.documents.length >= pageSize || page.bytes >= pageBytes || page.broken.length >= pageSize;

  return {
    name: 'file',
    families: ALL_FAMILIES,
    async page(cursor, signal) {
      const { folder, names } = await list(path);
      let place = readPlace(cursor, path);
      const page: Page = { documents: [], broken: [], bytes: 0 };
      let more = false;
      for (const name of names) {
        if (name < place.file || (name === place.file && place.done)) continue;
        signal.throwIfAborted();
        if (isFull(page)) more = true;
        if (more) break;
        const file = join(folder, name);
        const from = name === place.file ? place.at : 0;
        const isLast = name === names.at(-1);
        const isLines = LINES.test(name) || !KNOWN.test(name);
        const { at, end } = await (isLines ? takeLines : takeWhole)(file, from, isLast, page).catch(failed(file));
        // Lines may be added to a file; another is read once.
        place = { path, file: name, at, done: end === 'read' && !isLines };
        more = end === 'full';
        if (end !== 'read') break;
      }
      return { documents: page.documents, broken: page.broken, cursor: JSON.stringify(place), more };
    },
  };
}

interface Page {
  readonly documents: unknown[];
  readonly broken: UnreadableDocument[];
  bytes: number;
}

async function list(path: string): Promise<{ folder: string; names: readonly string[] }> {
  try {
    if (!(await stat(path)).isDirectory()) return { folder: dirname(path), names: [basename(path)] };
    const entries = await readdir(path, { withFileTypes: true });
    // A name that begins with a dot is a copy that is not complete yet.
    const files = entries.filter((entry) => !entry.isDirectory() && KNOWN.test(entry.name) && entry.name[0] !== '.');
    return { folder: path, names: files.map(({ name }) => name).sort() };
  } catch (error) {
    return failed(path)(error);
  }
}

const failed =
  (file: string) =>
  (error: unknown): never => {
    throw new SourceError(`cannot read ${file}: check service.register.path`, { cause: error });
  };

function readPlace(cursor: string | undefined, path: string): Place {
  const parsed = parse(cursor ?? '');
  const { path: of, file, at, done } = parsed.ok && isJsonObject(parsed.json) ? parsed.json : {};
  return of === path && typeof file === 'string' && typeof at === 'number'
    ? { path, file, at, done: done === true }
    : { path, file: '', at: 0, done: false };
}

function parse(text: string): { ok: true; json: unknown } | { ok: false; reason: string } {
  try {
    return { ok: true, json: JSON.parse(text) };
  } catch (error) {
    return { ok: false, reason: `is no JSON: ${error instanceof Error ? error.message.slice(0, 200) : ''}` };
  }
}
