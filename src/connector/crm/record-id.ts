/** Record ids in the one form that is stored and compared: a record that has two names must not have two links. */
import type { Provider, RecordId } from '../../../providers/provider.ts';
import { cutText } from '../../protocol/text/cut.ts';
import { pureAnswer } from './pure-answer.ts';

/** Whose records an id is to name: a connection of the configuration. */
export interface IdReader {
  readonly provider: Pick<Provider, 'canonicalId'>;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** The canonical form of an id; undefined where it can be no record's. */
export type IdForm = (text: string) => string | undefined;

const NOT_READ = 'its provider cannot read it: canonicalId returned neither an id nor a reason';
const LONGEST_REASON = 300;

/** Reads an id as a person, an export or the CRM itself spells it. Pure. */
export function readRecordId({ provider, settings }: IdReader, text: string): RecordId {
  const plain = readPlainId(text);
  if (plain.kind === 'none') return plain;
  if (provider.canonicalId === undefined) return plain;
  const read = pureAnswer(provider.canonicalId(plain.id, settings));
  if (read?.kind === 'id' && typeof read.id === 'string' && read.id !== '') return { kind: 'id', id: read.id };
  return { kind: 'none', reason: cutText(read?.kind === 'none' ? String(read.reason) : NOT_READ, LONGEST_REASON) };
}

/** The form of the ids in a connection's own answers: where its provider states none, they are taken as they stand. */
export const formOf =
  (reader: IdReader): IdForm =>
  (text) => {
    if (reader.provider.canonicalId === undefined) return text;
    const read = readRecordId(reader, text);
    return read.kind === 'id' ? read.id : undefined;
  };

/** What no CRM has as an id, whatever its ids look like. */
function readPlainId(text: string): RecordId {
  const id = text.trim();
  if (id === '') return { kind: 'none', reason: 'it is blank' };
  if (id.includes('://')) return { kind: 'none', reason: 'it is an address: give only the id in it' };
  if (/[\s\p{Cc}]/u.test(id)) return { kind: 'none', reason: 'it has blanks in it' };
  // The key of a lane that stands for no record.
  if (id === '*') return { kind: 'none', reason: 'it stands for all records' };
  return { kind: 'id', id };
}
