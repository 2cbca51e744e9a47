/** A document in whichever form it has. */
import { decoderFor } from './decode.ts';
import { DocumentError, type Facts, type Wanted } from './facts.ts';
import { INLINE, readIxbrl } from './ixbrl.ts';
import { readXbrl } from './xbrl.ts';

/** A page declares the inline namespace in its first element, which may follow a long comment. */
const HEAD = 64 * 1024;

/** Reads an instance or a page, told apart by what is in it: the declared media types are not always right. */
export async function readFacts(bytes: Uint8Array, isWanted: Wanted, signal?: AbortSignal): Promise<Facts> {
  const head = decoderFor(bytes).decode(bytes.subarray(0, HEAD), { stream: true });
  if (/^\s*%PDF-/.test(head)) throw new DocumentError('is a PDF');
  const isPage = INLINE.some((uri) => head.includes(uri)) && /<(?:\w+:)?html[\s>]/i.test(head);
  return (isPage ? readIxbrl : readXbrl)(bytes, isWanted, signal);
}
