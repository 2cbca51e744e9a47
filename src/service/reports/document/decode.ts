/** Finds the encoding of a document: by byte order mark, by the first bytes, else by its prolog. */
import { TextDecoder } from 'node:util';
import { DocumentError } from './facts.ts';

/** The longest prolog. */
const HEAD = 256;
const DECLARED = /^\s*<\?xml[^>]*?\bencoding\s*=\s*["']([A-Za-z0-9._-]+)["']/;

/**
 * A decoder that drops the byte order mark. `charset` applies if the document names no encoding. Throws {@link
 * DocumentError} for an unknown encoding.
 */
export function decoderFor(bytes: Uint8Array, charset = 'utf-8'): TextDecoder {
  const label = encodingOf(bytes) ?? charset;
  try {
    return new TextDecoder(label);
  } catch (error) {
    throw new DocumentError(`is in an unknown encoding, ${label.slice(0, 40)}`, { cause: error });
  }
}

function encodingOf(bytes: Uint8Array): string | undefined {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first === 0x3c && second === 0x00) return 'utf-16le';
  if (first === 0x00 && second === 0x3c) return 'utf-16be';
  const declared = DECLARED.exec(Buffer.from(bytes.subarray(0, HEAD)).toString('latin1'))?.[1]?.toLowerCase();
  // A prolog that is readable byte by byte is not UTF-16, whatever it says: the document was converted.
  return declared?.startsWith('utf-16') || declared?.startsWith('ucs-2') ? 'utf-8' : declared;
}
