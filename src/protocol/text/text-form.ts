/** The text of a file that people wrote with whatever editor or shell they have. */

const UTF8 = new TextDecoder('utf-8');
const HEAD = 512;

/** What a file's first bytes say of its form: an archive is a spreadsheet's or a document's own format. */
export type TextForm = 'utf-8' | 'utf-16le' | 'utf-16be' | 'archive' | 'binary';

/** The form, with a mark or without: texts of ours are mostly ASCII, which in UTF-16 has every other byte zero. */
export function formOf(bytes: Uint8Array): TextForm {
  const [a, b, c, d] = bytes;
  if (a === 0x50 && b === 0x4b && c === 3 && d === 4) return 'archive';
  if (a === 0xd0 && b === 0xcf && c === 0x11 && d === 0xe0) return 'archive';
  if (a === 0xff && b === 0xfe) return 'utf-16le';
  if (a === 0xfe && b === 0xff) return 'utf-16be';
  const head = bytes.subarray(0, HEAD);
  const zeros = [0, 0];
  for (const [at, byte] of head.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  if (even + odd === 0) return 'utf-8';
  if (even === 0 && odd > head.length / 4) return 'utf-16le';
  return odd === 0 && even > head.length / 4 ? 'utf-16be' : 'binary';
}

/** The text, in UTF-8 or UTF-16; undefined where the file is no text. */
export function decodeText(bytes: Uint8Array): string | undefined {
  const form = formOf(bytes);
  if (form === 'archive' || form === 'binary') return undefined;
  return form === 'utf-8' ? UTF8.decode(bytes) : new TextDecoder(form).decode(bytes);
}
