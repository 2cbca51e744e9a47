/** Fetches and reads the documents of a filing. */
import type { OutboundHttp } from '../../http/outbound/client.ts';
import { DocumentError, type Facts } from './document/facts.ts';
import { readFacts } from './document/read.ts';
import { type FetchOptions, fetchDocument } from './fetch.ts';
import type { Filing } from './filings.ts';
import { isReported } from './report.ts';

/** The readable documents. `later`: try the filing again, because a document may still come. */
export interface FilingRead {
  readonly documents: readonly Facts[];
  readonly error: string | null;
  readonly later: boolean;
}

export interface ReadingOptions extends FetchOptions {
  readonly http: OutboundHttp;
  /** Waits until the next document may be fetched. */
  readonly turn: (signal: AbortSignal) => Promise<void>;
}

/** Reads the machine-readable documents of a filing one at a time, because each may be large. */
export async function readFilingDocuments(
  options: ReadingOptions,
  filing: Filing,
  signal: AbortSignal,
): Promise<FilingRead> {
  const documents: Facts[] = [];
  const errors: string[] = [];
  for (const url of filing.documents) {
    await options.turn(signal);
    const fetched = await fetchDocument(options, url, signal);
    if (fetched.kind === 'later') return { documents: [], error: fetched.reason, later: true };
    const facts = fetched.kind === 'bytes' ? await read(fetched.bytes, signal) : fetched.reason;
    if (typeof facts === 'string') errors.push(facts);
    else documents.push(facts);
  }
  return { documents, error: errors.length > 0 ? errors.join('; ') : null, later: false };
}

async function read(bytes: Buffer, signal: AbortSignal): Promise<Facts | string> {
  try {
    return await readFacts(bytes, isReported, signal);
  } catch (error) {
    if (error instanceof DocumentError) return `the document ${error.message}`;
    throw error;
  }
}
