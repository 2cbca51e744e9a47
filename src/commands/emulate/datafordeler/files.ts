/** Emulates the weekly files of Datafordeler, with expired files, ranges, and broken transfers. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '../../../protocol/text/json.ts';
import { zipOf } from './zip.ts';

type Row = JsonObject;
type Layout = 'csv' | 'list' | 'wrapped' | 'lines';

export interface FileControls {
  /** The layout of the files: CSV, or one of three of JSON. Nobody has seen the original's JSON. */
  layout: Layout;
  /** Answers break off after this many bytes, this many times. */
  breaks: { readonly bytes: number; times: number };
  /** Whether an answer may begin in the middle of a file. */
  hasRanges: boolean;
  /** Entities whose files answer 403; `list` refuses the list of files. */
  readonly refused: Set<string>;
  /** Whether to write archives in the form of those over 4 GB. */
  isLarge: boolean;
}

export interface FileEmulator extends FileControls {
  readonly url: string;
  /** The name and range of each requested file. */
  readonly asked: string[];
  /** Publishes files of all rows, as of a time; kept for a week. */
  publish(rowsOf: (entity: string) => Iterable<Row>, at: number): void;
  close(): Promise<void>;
}

interface StoredFile {
  readonly listed: JsonObject;
  readonly zip: Buffer;
  readonly expires: number;
}

/** The content of each entity's file; some have only the whole history. */
const TYPES: Readonly<Record<string, string>> = {
  ...{ CVREnhed: 'Bitemporal', Virksomhed: 'Current', Produktionsenhed: 'Current', Navn: 'Current' },
  ...{ Adressering: 'Current', Branche: 'Current', Virksomhedsform: 'Current', AnsvarligDataleverandoer: 'Current' },
  ...{ Telefonnummer: 'Current', Telefaxnummer: 'Current', e_mailadresse: 'Current', Reklamebeskyttelse: 'Current' },
  ...{ Kreditoplysninger: 'Current', FuldtAnsvarligDeltagerRelation: 'Current' },
};
const WEEK_MS = 7 * 24 * 3_600_000;

export interface FileEmulatorOptions {
  readonly isKnown: (url: URL, headers: IncomingMessage['headers']) => boolean;
  readonly now?: () => number;
}

export async function serveFiles({ isKnown, now = Date.now }: FileEmulatorOptions): Promise<FileEmulator> {
  const files = new Map<string, StoredFile>();
  const asked: string[] = [];
  let generation = 524;
  const controls: FileControls = {
    layout: 'csv',
    breaks: { bytes: 0, times: 0 },
    hasRanges: true,
    refused: new Set(),
    isLarge: false,
  };
  const server = createServer((req, res) => {
    const url = new URL(req.url ?? '/', 'http://emulator.invalid');
    if (!isKnown(url, req.headers)) res.writeHead(401).end();
    else if (url.pathname === '/FileDownloads/GetAvailableFileDownloads') sendList(res);
    else if (url.pathname === '/FileDownloads/GetFile') sendFile(url.searchParams.get('Filename') ?? '', req, res);
    else res.writeHead(404).end();
  });

  function sendList(res: ServerResponse): void {
    if (controls.refused.has('list')) {
      res.writeHead(403).end();
      return;
    }
    const listed = [...files.values()].map((file) => file.listed);
    const paginationMetadata = { currentPage: 1, pageSize: 10_000, totalCount: listed.length, totalPages: 1 };
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ paginationMetadata, availableFileDownloads: listed }));
  }

  function sendFile(name: string, { headers }: IncomingMessage, res: ServerResponse): void {
    asked.push(headers.range === undefined ? name : `${name} ${headers.range}`);
    const file = files.get(name);
    if (file === undefined || file.expires <= now()) res.writeHead(404).end();
    else if (controls.refused.has(String(file.listed['entityName']))) res.writeHead(403).end();
    else sendZip(file.zip, /^bytes=(\d+)-$/u.exec(headers.range ?? '')?.[1] ?? '0', res);
  }

  function sendZip(zip: Buffer, start: string, res: ServerResponse): void {
    const from = controls.hasRanges ? Number(start) : 0;
    const rest = zip.subarray(from);
    const { breaks } = controls;
    res.writeHead(from > 0 ? 206 : 200, { 'content-type': 'application/zip', 'content-length': rest.length });
    if (breaks.times === 0 || rest.length <= breaks.bytes) {
      res.end(rest);
      return;
    }
    breaks.times -= 1;
    res.write(rest.subarray(0, breaks.bytes), () => res.destroy());
  }

  const emulator: FileEmulator = Object.assign(controls, {
    url: '',
    asked,
    publish(rowsOf: (entity: string) => Iterable<Row>, at: number) {
      generation += 1;
      for (const entity of Object.keys(TYPES)) {
        const file = fileOf(entity, { rows: [...rowsOf(entity)], generation, at, ...controls });
        files.set(String(file.listed['fileName']), file);
      }
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(emulator, { url: `http://127.0.0.1:${port}/FileDownloads` });
}

interface Content {
  readonly rows: readonly Row[];
  readonly generation: number;
  readonly at: number;
  readonly layout: Layout;
  readonly isLarge: boolean;
}

function fileOf(entity: string, { rows, generation, at, layout, isLarge }: Content): StoredFile {
  const typeOfData = TYPES[entity];
  const entityName = entity.replace('_', '-');
  const format = layout === 'csv' ? 'csv' : 'json';
  const fileName = `CVR_V2_${entityName}_TotalDownload_${format}_${typeOfData}_${generation}.zip`;
  const zip = zipOf(fileName.replace('.zip', `.${format}`), Buffer.from(WRITERS[layout](rows)), isLarge);
  const listed = {
    ...{ fileName, register: 'CVR', entityName, typeOfDownload: 'TotalDownload', typeOfData, version: '2' },
    ...{ generationNumber: generation, containedFileFormat: format, outputFileFormat: 'zip' },
    pointInTime: typeOfData === 'Bitemporal' ? null : new Date(at).toISOString(),
    expirationDate: new Date(at + WEEK_MS).toISOString(),
    md5Hash: createHash('md5').update(zip).digest('hex'),
    fileSizeInBytes: zip.length,
  };
  return { listed, zip, expires: at + WEEK_MS };
}

const quoted = (value: unknown): string => {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\n\r]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

function csvOf(rows: readonly Row[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = rows.map((row) => columns.map((column) => quoted(row[column])).join(','));
  return `${[columns.join(','), ...lines].join('\r\n')}\r\n`;
}

const WRITERS: Readonly<Record<Layout, (rows: readonly Row[]) => string>> = {
  csv: csvOf,
  list: (rows) => JSON.stringify(rows, null, 1),
  wrapped: (rows) => JSON.stringify({ metadata: { register: 'CVR', rows: rows.length }, data: rows }),
  lines: (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
};
