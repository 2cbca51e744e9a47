/** Record ids in the one form that is stored and compared, since a record with two names must not have two links; and their pages. */
import type { Provider, RecordId } from '../../../../providers/provider.ts';
import { cutText } from '../../../protocol/text/cut.ts';
import { errorText } from '../../../protocol/text/error-text.ts';
import { ProviderBug } from './provider-bug.ts';
import { pureAnswer } from './pure-answer.ts';

/** Whose records an id is to name: a connection of the configuration. */
export interface IdReader {
  readonly name: string;
  readonly provider: Pick<Provider, 'canonicalId' | 'idInAddress' | 'recordAddress'>;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Hides the secrets of the settings in a text. */
  readonly mask?: ((text: string) => string) | undefined;
}

/** The canonical form of an id; undefined if it can be no record's. */
export type IdForm = (text: string) => string | undefined;

const NOT_READ = 'its provider cannot read it: canonicalId returned neither an id nor a reason';
const LONGEST_REASON = 300;
const LONGEST_ADDRESS = 2_000;

/** Reads an id as a person, an export or the CRM itself spells it: where its provider fails, that is the reason. Pure. */
export function readRecordId(reader: IdReader, text: string): RecordId {
  try {
    return canonicalIdOf(reader, text);
  } catch (error) {
    return { kind: 'none', reason: cutText(`its provider cannot read it: ${bugIn(reader, error)}`, LONGEST_REASON) };
  }
}

/**
 * The form of the ids in a connection's own answers: where its provider states none, they are taken as they stand. Throws
 * {@link ProviderBug} if its provider fails: an id that cannot be read now must not pass for one that no record has.
 */
export const formOf =
  (reader: IdReader): IdForm =>
  (text) => {
    if (reader.provider.canonicalId === undefined) return text;
    try {
      const read = canonicalIdOf(reader, text);
      return read.kind === 'id' ? read.id : undefined;
    } catch (error) {
      const id = cutText(text, LONGEST_REASON);
      throw new ProviderBug(`${reader.name}: the record id ${id} cannot be read: ${bugIn(reader, error)}`);
    }
  };

/**
 * The address of a record's page in the CRM, for people; undefined if its provider knows none. `account` is the account of
 * the connection, undefined before its first call.
 */
export function recordAddress(
  { provider, settings }: IdReader,
  id: string,
  account: string | undefined,
): string | undefined {
  if (account === undefined) return undefined;
  try {
    const address: unknown = pureAnswer(provider.recordAddress?.(id, account, settings));
    const isShown = typeof address === 'string' && address.length <= LONGEST_ADDRESS && URL.canParse(address);
    return isShown && new URL(address).protocol === 'https:' ? address : undefined;
  } catch {
    // A link that is missing costs a search; a page or a plan that is missing costs more.
    return undefined;
  }
}

const bugIn = ({ mask = (text) => text }: IdReader, error: unknown): string =>
  `canonicalId failed, which is a bug of the provider: ${mask(errorText(error))}`;

function canonicalIdOf({ provider, settings }: IdReader, text: string): RecordId {
  const address = text.includes('://') && URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  const found = address && pureAnswer(provider.idInAddress?.(address, settings));
  const plain = readPlainId(typeof found === 'string' ? found : text);
  if (plain.kind === 'none') return plain;
  if (provider.canonicalId === undefined) return plain;
  const read = pureAnswer(provider.canonicalId(plain.id, settings));
  if (read?.kind === 'id' && typeof read.id === 'string' && read.id !== '') return { kind: 'id', id: read.id };
  return { kind: 'none', reason: cutText(read?.kind === 'none' ? String(read.reason) : NOT_READ, LONGEST_REASON) };
}

/** What no CRM has as an id, whatever its ids look like. */
function readPlainId(text: string): RecordId {
  const id = text.trim();
  if (id === '') return { kind: 'none', reason: 'it is blank' };
  if (id.includes('://')) return { kind: 'none', reason: 'it is no address of a company here: give only the id in it' };
  if (/[\s\p{Cc}]/u.test(id)) return { kind: 'none', reason: 'it has blanks in it' };
  // The key of a lane that stands for no record.
  if (id === '*') return { kind: 'none', reason: 'it stands for all records' };
  return { kind: 'id', id };
}
