/**
 * Reads the files of a zip archive on disk, each as a stream. It needs no package: the central directory has sizes and
 * offsets, also of archives over 4 GB (zip64), and `node:zlib` inflates. The archive's md5 was checked, so it does not
 * check the sums inside.
 */
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createInflateRaw } from 'node:zlib';
import { SourceError } from '../../source.ts';

export interface ZipEntry {
  readonly name: string;
  open(): Readable;
}

const END = 0x06_05_4b_50;
const END_64 = 0x06_06_4b_50;
const LOCATOR_64 = 0x07_06_4b_50;
const CENTRAL = 0x02_01_4b_50;
/** The end record with the longest comment, and the locator before it. */
const TAIL = 22 + 65_535 + 20;
/** In a field of 32 bits: the value is in the zip64 part. */
const ELSEWHERE = 0xff_ff_ff_ff;
/**
 * Bytes per piece. Node returns pieces of this size to the system at once; many smaller ones would leave 40 MB of gaps.
 */
const PIECE = 128 << 10;
const STORED = 0;
const DEFLATED = 8;

const broken = (path: string): SourceError => new SourceError(`${path} is not a whole zip archive`);

/** The files of an archive, without its folders. */
export async function readZip(path: string): Promise<readonly ZipEntry[]> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const { at, length } = await directoryOf(file, size, path);
    if (at + length > size) throw broken(path);
    const directory = await bytesAt(file, at, length);
    const entries: ZipEntry[] = [];
    for (let from = 0; from + 46 <= directory.length && directory.readUInt32LE(from) === CENTRAL; ) {
      const found = entryAt(directory, from);
      if (!found.name.endsWith('/')) entries.push(await entryOf(file, path, found));
      from = found.next;
    }
    return entries;
  } finally {
    await file.close();
  }
}

async function bytesAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
}

async function directoryOf(file: FileHandle, size: number, path: string) {
  const from = Math.max(0, size - TAIL);
  const tail = await bytesAt(file, from, size - from);
  const end = lastOf(tail, END);
  if (end === -1 || end + 22 > tail.length) throw broken(path);
  const [length, at] = [tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)];
  if (at !== ELSEWHERE && length !== ELSEWHERE) return { at, length };
  const locator = end - 20;
  if (locator < 0 || tail.readUInt32LE(locator) !== LOCATOR_64) throw broken(path);
  const record = await bytesAt(file, Number(tail.readBigUInt64LE(locator + 8)), 56);
  if (record.length < 56 || record.readUInt32LE(0) !== END_64) throw broken(path);
  return { at: Number(record.readBigUInt64LE(48)), length: Number(record.readBigUInt64LE(40)) };
}

function lastOf(bytes: Buffer, signature: number): number {
  const wanted = Buffer.alloc(4);
  wanted.writeUInt32LE(signature);
  return bytes.lastIndexOf(wanted);
}

interface CentralEntry {
  readonly name: string;
  readonly method: number;
  readonly packed: number;
  readonly offset: number;
  readonly next: number;
}

function entryAt(directory: Buffer, from: number): CentralEntry {
  const [nameLength, extraLength, commentLength] = [28, 30, 32].map((at) => directory.readUInt16LE(from + at));
  const nameEnd = from + 46 + (nameLength ?? 0);
  const extraEnd = nameEnd + (extraLength ?? 0);
  const [packed, unpacked, offset] = [20, 24, 42].map((at) => directory.readUInt32LE(from + at));
  const large = largeSizes(directory.subarray(nameEnd, extraEnd), [unpacked, packed, offset]);
  return {
    name: directory.toString('utf8', from + 46, nameEnd),
    method: directory.readUInt16LE(from + 10),
    packed: large[1] ?? 0,
    offset: large[2] ?? 0,
    next: extraEnd + (commentLength ?? 0),
  };
}

/** The sizes and the offset of an entry. Those that do not fit in 32 bits are in the extra field 1, in this order. */
function largeSizes(extra: Buffer, stated: readonly (number | undefined)[]): readonly number[] {
  let field = extra.subarray(0, 0);
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2))
    if (extra.readUInt16LE(at) === 1) field = extra.subarray(at + 4, at + 4 + extra.readUInt16LE(at + 2));
  let read = 0;
  return stated.map((value = 0) => {
    if (value !== ELSEWHERE || read + 8 > field.length) return value;
    read += 8;
    return Number(field.readBigUInt64LE(read - 8));
  });
}

async function entryOf(file: FileHandle, path: string, { name, method, packed, offset }: CentralEntry) {
  if (method !== STORED && method !== DEFLATED)
    throw new SourceError(`${name} in ${path} is packed in a way that cvrsync cannot read (${method})`);
  const local = await bytesAt(file, offset, 30);
  if (local.length < 30) throw broken(path);
  const start = offset + 30 + local.readUInt16LE(26) + local.readUInt16LE(28);
  return {
    name,
    open(): Readable {
      const bytes = createReadStream(path, { start, end: start + packed - 1, highWaterMark: PIECE });
      if (method === STORED) return bytes;
      // The reader of the result gets the error.
      return pipeline(bytes, createInflateRaw({ chunkSize: PIECE }), () => undefined);
    },
  };
}
