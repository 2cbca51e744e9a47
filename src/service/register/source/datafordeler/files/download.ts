/** Downloads a weekly file to disk. Resumes an interrupted transfer if the server allows that. */
import { createHash } from 'node:crypto';
import { open, rm, stat } from 'node:fs/promises';
import type { OutboundHttp, OutboundResponse } from '../../../../../http/outbound/client.ts';
import { HttpFault } from '../../../../../http/outbound/fault.ts';
import { SourceError } from '../../source.ts';
import type { WeeklyFile } from './file-list.ts';

export interface FileAccess {
  /** Sends a request with the credentials, which no error contains. */
  readonly get: (path: string, query: Readonly<Record<string, string>>, how: GetOptions) => Promise<OutboundResponse>;
}

export interface GetOptions {
  readonly signal: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  readonly onChunk?: (chunk: Buffer, status: number) => Promise<void>;
}

/** The user has no access to this file. */
export class FileRefused extends Error {
  override readonly name = 'FileRefused';
}

/** A transfer without data for this long is broken. */
const IDLE_MS = 120_000;
const MOST_LIST_BYTES = 8 << 20;

type Sign = (url: string, signal: AbortSignal) => Promise<{ url: string; headers: Record<string, string> }>;

export const openFileAccess = (base: string, { http, sign }: { http: OutboundHttp; sign: Sign }): FileAccess => ({
  async get(path, query, { signal, headers, onChunk }) {
    const address = `${base.replace(/\/$/u, '')}/${path}?${new URLSearchParams(query)}`;
    const signed = await sign(address, signal);
    try {
      return await http({
        ...{ method: 'GET', url: signed.url, headers: { ...signed.headers, ...headers }, signal, timeoutMs: IDLE_MS },
        maxBytes: MOST_LIST_BYTES,
        ...(onChunk && { onChunk }),
      });
    } catch (error) {
      if (!(error instanceof HttpFault) || error.kind === 'aborted') throw error;
      // Not the error itself: its cause could hold the URL with the key.
      throw new SourceError(`the files of Datafordeler: ${error.message}`);
    }
  },
});

/** Downloads a file and checks its md5. Throws {@link SourceError}; the next call resumes. */
export async function download(access: FileAccess, file: WeeklyFile, path: string, signal: AbortSignal): Promise<void> {
  const has = await sizeOf(path);
  if (has < file.bytes) await fetchRest(access, file, { path, has }, signal);
  const [size, md5] = [await sizeOf(path), await md5Of(path)];
  if (size === file.bytes && md5 === file.md5.toLowerCase()) return;
  if (size < file.bytes) throw new SourceError(`${file.name} broke off at ${size} of ${file.bytes} bytes: it goes on`);
  await rm(path, { force: true });
  throw new SourceError(`${file.name} is not the file that the list of Datafordeler names: fetching it again`);
}

const sizeOf = async (path: string): Promise<number> => (await stat(path).catch(() => undefined))?.size ?? 0;

async function fetchRest(
  access: FileAccess,
  { name, bytes }: WeeklyFile,
  { path, has }: { readonly path: string; readonly has: number },
  signal: AbortSignal,
): Promise<void> {
  const handle = await open(path, 'a');
  let size = has;
  let isBegun = false;
  try {
    const answer = await access.get(
      'GetFile',
      { Filename: name },
      {
        signal,
        ...(has > 0 && { headers: { range: `bytes=${has}-` } }),
        async onChunk(chunk, status) {
          // A server without ranges begins again.
          if (status === 200 && !isBegun && has > 0) {
            await handle.truncate(0);
            size = 0;
          }
          isBegun = true;
          size += chunk.length;
          if (size > bytes) throw new SourceError(`${name} is longer than the list of Datafordeler says`);
          await handle.write(chunk);
        },
      },
    );
    refuse(answer, name);
  } finally {
    await handle.close();
  }
}

function refuse({ status }: OutboundResponse, name: string): void {
  if (status === 200 || status === 206) return;
  if (status === 403) throw new FileRefused(`Datafordeler refuses ${name} (403)`);
  if (status === 401)
    throw new SourceError('Datafordeler refused the key (401): check service.register.apiKey', {
      retryAfterMs: 60_000,
    });
  throw new SourceError(`Datafordeler answered ${name} with ${status}`);
}

export async function readFileList(access: FileAccess, signal: AbortSignal): Promise<unknown> {
  const answer = await access.get('GetAvailableFileDownloads', { Register: 'CVR' }, { signal });
  if (answer.status === 403)
    throw new SourceError('Datafordeler refuses the list of files (403): check service.register.apiKey or oauth', {
      retryAfterMs: 15 * 60_000,
    });
  refuse(answer, 'the list of files');
  try {
    return JSON.parse(answer.body);
  } catch {
    throw new SourceError('the list of files of Datafordeler is no JSON');
  }
}

async function md5Of(path: string): Promise<string> {
  const sum = createHash('md5');
  const handle = await open(path, 'r');
  // One buffer for all reads: those of a stream would wait for garbage collection.
  const bytes = Buffer.allocUnsafe(256 << 10);
  try {
    for (let length = -1; length !== 0; ) {
      length = (await handle.read(bytes, 0, bytes.length)).bytesRead;
      sum.update(bytes.subarray(0, length));
    }
  } finally {
    await handle.close();
  }
  return sum.digest('hex');
}
