/** Decompresses what came by gzip, in one go where that is possible. */
import { promisify } from 'node:util';
import { gunzip as inParts } from 'node:zlib';

const unpack = promisify(inParts);

/** Bytes: zlib's own chunk, and what deflate makes of one at the most (https://zlib.net/zlib_tech.html). */
const LEAST_CHUNK = 16_384;
const MOST_RATIO = 1_032;
/** A head of ten bytes and an end of eight. */
const LEAST_BODY = 18;

/**
 * The bytes within a gzip body. Throws a RangeError where they are more than `maxBytes`, another error where the body is
 * cut or broken.
 */
export const gunzip = (body: Buffer, maxBytes: number): Promise<Buffer> =>
  unpack(body, { maxOutputLength: maxBytes, chunkSize: chunkSizeFor(body, maxBytes) });

/**
 * As large as the end of the body says the whole is (RFC 1952, ISIZE), so that zlib has one chunk to fill: it comes back to
 * this thread after each, which may be busy, and copies them together in the end. One byte more tells it that there is
 * nothing left. Where the end says something else there are more chunks, or one that is too large and never touched.
 */
function chunkSizeFor(body: Buffer, maxBytes: number): number {
  const stated = body.length < LEAST_BODY ? 0 : body.readUInt32LE(body.length - 4);
  return Math.max(Math.min(stated + 1, maxBytes, body.length * MOST_RATIO), LEAST_CHUNK);
}
