/** The beginning of an answer whose body does not matter. */
import type { Readable } from 'node:stream';

/**
 * Reads up to `most` bytes as text. Never fails: where the body breaks off, what came is returned. Compressed ones are not
 * unpacked, and give nothing. What would go on after that is not read: its connection is dropped.
 */
export async function readExcerpt(
  stream: Readable,
  headers: Readonly<Record<string, string>>,
  most: number,
): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  // A stream that is left early reports that it was.
  stream.on('error', () => undefined);
  try {
    for await (const chunk of stream) {
      if (!Buffer.isBuffer(chunk)) continue;
      chunks.push(chunk);
      length += chunk.length;
      if (length > most) break;
    }
  } catch {
    // The status has come, and with it all that counts.
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  return encoding === 'identity' ? Buffer.concat(chunks).subarray(0, most).toString('utf8') : '';
}
