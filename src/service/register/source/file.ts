/**
 * A source that reads files: a folder of register documents in the order of their names, or one file. A `.json` file
 * holds one document, a list of them or an Elasticsearch answer; `.ndjson` and `.jsonl` hold one per line. Files must
 * not change, except that lines may be added to the last one. A new file's name must sort after the others.
 */
import type { Stats } from 'node:fs';
import { open as openFile, readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { isJsonObject } from '../../../protocol/text/json.ts';
import { ALL_FAMILIES } from '../document/families.ts';
import { linesFrom } from './lines.ts';
import { brokenText, documentsIn, type RegisterSource, SourceError, type UnreadableDocument } from './source.ts';

export interface FileSourceOptions {
  readonly pageSize?: number;
  /** A page ends after this many bytes of files or lines; 8 MiB by default. */
  readonly pageBytes?: number;
  /** How long the last file may be unreadable and unchanged before the source skips it; 60 s by default. */
  readonly patienceMs?: number;
  /** The most bytes of one line or one `.json` file; 256 MiB by default. */
  readonly maxBytes?: number;
  readonly now?: () => number;
}

type Limits = Required<FileSourceOptions>;

const DEFAULTS: Limits = {
  pageSize: 500,
  pageBytes: 8 << 20,
  patienceMs: 60_000,
  maxBytes: 256 << 20,
  now: Date.now,
};

/** How far the source has read: `at` counts bytes in a file of lines, documents in another. */
interface Place {
  readonly path: string;
  readonly file: string;
  readonly at: number;
  readonly done: boolean;
}

interface Page {
  readonly documents: unknown[];
  readonly broken: UnreadableDocument[];
  bytes: number;
}

interface Rest {
  readonly file: string;
  /** A byte in a file of lines, a document in another. */
  readonly from: number;
  /** Only the last file may still grow. */
  readonly isLast: boolean;
}

/** How far a page read one file. `waits`: its end is still being written. */
interface Taken {
  readonly at: number;
  readonly end: 'read' | 'full' | 'waits';
}

const LINES = /\.(?:ndjson|jsonl)$/i;
const KNOWN = /\.(?:json|ndjson|jsonl)$/i;
const BYTE_ORDER_MARK = /^\uFEFF/;

/** Opens nothing until the first page. The cursor names the file and the position in it. */
export function createFileSource(path: string, options: FileSourceOptions = {}): RegisterSource {
  const limits = { ...DEFAULTS, ...options };
  const isGrowing = createPatience(limits);
  const takeDocuments = createDocumentReader(limits, isGrowing);
  return {
    name: 'file',
    origin: 'cvr',
    families: ALL_FAMILIES,
    async page(cursor, signal) {
      const { folder, names } = await list(path);
      const start = readPlace(cursor, path);
      let place = start;
      const page: Page = { documents: [], broken: [], bytes: 0 };
      let more = false;
      for (const name of names.filter((each) => isUnread(each, start))) {
        signal.throwIfAborted();
        more = isFull(page, limits);
        if (more) break;
        const file = join(folder, name);
        const rest: Rest = { file, from: name === start.file ? start.at : 0, isLast: name === names.at(-1) };
        const isLines = holdsLines(name);
        const taking = isLines ? takeLines(rest, page, limits, isGrowing) : takeDocuments(rest, page);
        const { at, end } = await taking.catch(failed(file));
        // Only a file of lines may grow; the source reads any other file once.
        place = { path, file: name, at, done: end === 'read' && !isLines };
        more = end === 'full';
        if (end !== 'read') break;
      }
      return { documents: page.documents, broken: page.broken, cursor: JSON.stringify(place), more };
    },
  };
}

const holdsLines = (name: string): boolean => LINES.test(name) || !KNOWN.test(name);

const isUnread = (name: string, { file, done }: Place): boolean => name > file || (name === file && !done);

const isFull = ({ documents, broken, bytes }: Page, { pageSize, pageBytes }: Limits): boolean =>
  documents.length >= pageSize || bytes >= pageBytes || broken.length >= pageSize;

/** Whether an unreadable end of a file may only be incomplete. */
type IsGrowing = (rest: Rest, stats: Stats) => boolean;

/**
 * Measures the patience from when this process first saw the file in its current state, because file times may come
 * from another clock. Remembers one file, because only the last may grow.
 */
function createPatience({ now, patienceMs }: Limits): IsGrowing {
  let seen = { state: '', at: 0 };
  return ({ file, isLast }, { size, mtimeMs }) => {
    const state = `${file} ${size} ${mtimeMs}`;
    if (state !== seen.state) seen = { state, at: now() };
    return isLast && now() - seen.at < patienceMs;
  };
}

/**
 * Reads `.json` files. Keeps the documents of a file until a page takes the last one, because a large file fills
 * several pages.
 */
function createDocumentReader(limits: Limits, isGrowing: IsGrowing): (rest: Rest, page: Page) => Promise<Taken> {
  let open: { readonly key: string; readonly documents: readonly unknown[] } | undefined;

  /** The documents of a file. If it is unreadable, the page gets the reason. */
  async function load(rest: Rest, page: Page): Promise<readonly unknown[] | 'waits' | 'unreadable'> {
    const { file } = rest;
    const name = basename(file);
    const stats = await stat(file);
    const { size, mtimeMs } = stats;
    const key = `${file} ${size} ${mtimeMs}`;
    if (open?.key === key) return open.documents;
    if (size > limits.maxBytes) {
      page.broken.push(brokenText(name, `has ${size} bytes: give large files as NDJSON, one document a line`, ''));
      return 'unreadable';
    }
    const text = (await readFile(file, 'utf8')).replace(BYTE_ORDER_MARK, '');
    const parsed = parse(text);
    if (parsed.ok) {
      page.bytes += size;
      open = { key, documents: documentsIn(parsed.json) };
      return open.documents;
    }
    if (isGrowing(rest, stats)) return 'waits';
    page.broken.push(brokenText(name, parsed.reason, text));
    return 'unreadable';
  }

  return async (rest, page) => {
    const documents = await load(rest, page);
    if (documents === 'waits') return { at: rest.from, end: 'waits' };
    if (documents === 'unreadable') return { at: 0, end: 'read' };
    const at = Math.min(documents.length, rest.from + limits.pageSize - page.documents.length);
    page.documents.push(...documents.slice(rest.from, at));
    if (at < documents.length) return { at, end: 'full' };
    open = undefined;
    return { at, end: 'read' };
  };
}

async function takeLines(rest: Rest, page: Page, limits: Limits, isGrowing: IsGrowing): Promise<Taken> {
  const { file, from } = rest;
  const handle = await openFile(file, 'r');
  try {
    const stats = await handle.stat();
    // A file that is shorter than the part that was read is another file.
    let at = from > stats.size ? 0 : from;
    for await (const { text, end, ended } of linesFrom(handle, at, limits.maxBytes)) {
      const { documents, broken } = readLine(text, `${basename(file)}, byte ${at}`, limits);
      const mayContinue = text !== undefined && !ended;
      if (broken !== undefined && mayContinue && isGrowing(rest, stats)) return { at, end: 'waits' };
      page.documents.push(...documents);
      if (broken !== undefined) page.broken.push(broken);
      page.bytes += end - at;
      at = end;
      if (isFull(page, limits)) return { at, end: 'full' };
    }
    return { at, end: 'read' };
  } finally {
    await handle.close();
  }
}

interface ReadLine {
  readonly documents: readonly unknown[];
  readonly broken?: UnreadableDocument;
}

/** Reads one line; its text is absent if it is too long. */
function readLine(line: string | undefined, where: string, { maxBytes }: Limits): ReadLine {
  if (line === undefined)
    return { documents: [], broken: brokenText(where, `is a line of more than ${maxBytes} bytes`, '') };
  const text = line.replace(BYTE_ORDER_MARK, '').trim();
  if (text === '') return { documents: [] };
  const parsed = parse(text);
  return parsed.ok
    ? { documents: documentsIn(parsed.json) }
    : { documents: [], broken: brokenText(where, parsed.reason, text) };
}

async function list(path: string): Promise<{ folder: string; names: readonly string[] }> {
  try {
    if (!(await stat(path)).isDirectory()) return { folder: dirname(path), names: [basename(path)] };
    const entries = await readdir(path, { withFileTypes: true });
    // A name that begins with a dot is an incomplete copy.
    const files = entries.filter((entry) => !entry.isDirectory() && KNOWN.test(entry.name) && entry.name[0] !== '.');
    return { folder: path, names: files.map(({ name }) => name).sort() };
  } catch (error) {
    return failed(path)(error);
  }
}

const failed =
  (file: string) =>
  (error: unknown): never => {
    throw new SourceError(`cannot read ${resolve(file)}: check service.register.path`, { cause: error });
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
