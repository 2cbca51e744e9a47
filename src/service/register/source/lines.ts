/** Reads the lines of a file from a byte on, in chunks: a file of 10 GB needs only the memory of its longest line. */
import type { FileHandle } from 'node:fs/promises';

export interface FileLine {
  /** Undefined if the line was too long and skipped. */
  readonly text: string | undefined;
  /** The byte after the line and its line end. */
  readonly end: number;
  /** False for a last line without a line end, which may still grow. */
  readonly ended: boolean;
}

const CHUNK = 256 * 1024;
const NEWLINE = 10;

/** `start` must begin a line. */
export async function* linesFrom(file: FileHandle, start: number, maxBytes: number): AsyncGenerator<FileLine> {
  const chunk = Buffer.allocUnsafe(CHUNK);
  let parts: Buffer[] = [];
  let length = 0;
  let position = start;

  const take = (end: number, ended: boolean): FileLine => {
    const text = length > maxBytes ? undefined : Buffer.concat(parts).toString('utf8');
    parts = [];
    length = 0;
    return { text, end, ended };
  };
  const keep = (piece: Buffer): void => {
    length += piece.length;
    // A copy, because the chunk is reused.
    if (length <= maxBytes) parts.push(Buffer.from(piece));
    else parts = [];
  };

  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK, position);
    if (bytesRead === 0) break;
    const piece = chunk.subarray(0, bytesRead);
    let from = 0;
    for (let at = piece.indexOf(NEWLINE); at !== -1; at = piece.indexOf(NEWLINE, from)) {
      keep(piece.subarray(from, at));
      from = at + 1;
      yield take(position + from, true);
    }
    keep(piece.subarray(from));
    position += bytesRead;
  }
  if (length > 0) yield take(position, false);
}
