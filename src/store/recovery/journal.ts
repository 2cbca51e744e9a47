/**
 * Finds commits in SQLite's write-ahead log that SQLite ignores: it reads up to the first frame with a wrong checksum,
 * and silently drops the rest.
 */
import { closeSync, openSync, readSync } from 'node:fs';

/** The magic number of a log without its last bit, which is the byte order in each checksum. */
const MAGIC = 0x377f0682;
const HEADER = 32;
const FRAME_HEADER = 24;
/** Frames to read at a time. */
const STEP = 256;

type Sums = readonly [number, number];

/**
 * Whether the log holds commits after a damaged frame. The torn end after a crash does not count: its last commit was
 * never reported as durable.
 */
export function hasLostCommits(wal: string): boolean {
  // Twice, because a process may be writing the frame.
  return commitsFromBreak(wal) > 1 && commitsFromBreak(wal) > 1;
}

/** The number of commits from the first damaged frame on: two if a durable one cannot be read. */
function commitsFromBreak(wal: string): number {
  const file = openIfThere(wal);
  if (file === undefined) return 0;
  try {
    const header = readHeader(file);
    if (header === undefined) return 0;
    const { salts, pageSize, isLittle } = header;
    let { sums } = header;
    let [isBroken, commits] = [false, 0];
    for (const frame of framesOf(file, FRAME_HEADER + pageSize)) {
      const isOfLog = frame.subarray(8, 16).equals(salts);
      const stored: Sums = [frame.readUInt32BE(16), frame.readUInt32BE(20)];
      const isWhole = isOfLog && areSame(checksum(sums, frame, isLittle), stored);
      const breaksHere = !isBroken && !isWhole;
      isBroken ||= breaksHere;
      const counts = isBroken && isOfLog && (isWhole || breaksHere);
      if (counts && frame.readUInt32BE(4) !== 0) commits += 1;
      sums = stored;
    }
    return commits;
  } finally {
    closeSync(file);
  }
}

function readHeader(file: number) {
  const header = Buffer.alloc(HEADER);
  const size = readSync(file, header, 0, HEADER, 0);
  const [magic, pageSize] = [header.readUInt32BE(0), header.readUInt32BE(8)];
  if (size < HEADER || (magic & ~1) !== MAGIC || pageSize < 512 || pageSize > 65_536) return undefined;
  const sums: Sums = [header.readUInt32BE(24), header.readUInt32BE(28)];
  return { pageSize, salts: header.subarray(16, 24), sums, isLittle: (magic & 1) === 0 };
}

/** The frames of a log, in one reused buffer. */
function* framesOf(file: number, size: number): Generator<Buffer> {
  const chunk = Buffer.allocUnsafeSlow(STEP * size);
  for (let place = HEADER; ; place += chunk.length) {
    const read = readSync(file, chunk, 0, chunk.length, place);
    for (let at = 0; at + size <= read; at += size) yield chunk.subarray(at, at + size);
    if (read < chunk.length) return;
  }
}

function openIfThere(file: string): number | undefined {
  try {
    return openSync(file, 'r');
  } catch {
    return undefined;
  }
}

const areSame = (a: Sums, b: Sums): boolean => a[0] === b[0] && a[1] === b[1];

/** SQLite's checksum over the first eight bytes of a frame's header, and its page. */
function checksum([a, b]: Sums, frame: Buffer, isLittle: boolean): Sums {
  const bytes = isLittle ? frame : Buffer.from(frame).swap32();
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  let [one, two] = [a, b];
  for (let at = 0; at < words.length; at = at === 0 ? FRAME_HEADER / 4 : at + 2) {
    one = (one + (words[at] ?? 0) + two) >>> 0;
    two = (two + (words[at + 1] ?? 0) + one) >>> 0;
  }
  return [one, two];
}
