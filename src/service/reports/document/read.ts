import { DocumentError, type Facts, type WantedFacts } from './facts.ts';
import { createInlineReader } from './ixbrl.ts';
import { createXbrlReader, type FactReader } from './xbrl.ts';
import { readXml } from './xml.ts';

/**
 * Reads the wanted facts of a document. Tells instances from pages by their first element, because the declared media
 * types are not always right. Throws as `readXml` does.
 */
export async function readFacts(bytes: Uint8Array, isWanted: WantedFacts, signal?: AbortSignal): Promise<Facts> {
  if (Buffer.from(bytes.subarray(0, 8)).includes('%PDF')) throw new DocumentError('is a PDF');
  let reader: FactReader | undefined;
  await readXml(
    bytes,
    (resolve) => ({
      open(tag) {
        reader ??= (tag.local === 'html' ? createInlineReader : createXbrlReader)(resolve, isWanted);
        reader.open(tag);
      },
      text: (text) => reader?.text(text),
      close: (tag) => reader?.close(tag),
    }),
    signal,
  );
  return reader?.facts() ?? new Map();
}
