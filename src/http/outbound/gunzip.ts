import { promisify } from 'node:util';
import { gunzip as inParts } from 'node:zlib';

const unpack = promisify(inParts);

/** zlib's own chunk, and deflate's best compression ratio (https://zlib.net/zlib_tech.html). */
const LEAST_CHUNK = 16_384;
const MOST_RATIO = 1_032;
/** A header of ten bytes and a trailer of eight. */
const LEAST_BODY = 18;

/**
 * Decompresses a gzip body, in one go if possible. Throws a RangeError above `maxBytes`, another error if the body is
 * cut or broken.
 */
export const gunzip = (body: Buffer, maxBytes: number): Promise<Buffer> =>
  unpack(body, { maxOutputLength: maxBytes, chunkSize: chunkSizeFor(body, maxBytes) });

/**
 * Takes the size from the trailer (RFC 1952, ISIZE), so that zlib fills one chunk: after each chunk it returns to this
 * thread, which may be busy, and it copies all chunks together at the end. One more byte lets it see the end. If the
 * trailer is wrong, there are more chunks, or one large chunk that stays partly unused.
 */
function chunkSizeFor(body: Buffer, maxBytes: number): number {
  const stated = body.length < LEAST_BODY ? 0 : body.readUInt32LE(body.length - 4);
  return Math.max(Math.min(stated + 1, maxBytes, body.length * MOST_RATIO), LEAST_CHUNK);
}
