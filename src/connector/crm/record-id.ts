/** The ids of records in the one form that cvrsync stores and compares, so that a record has one link; and their pages. */
import type { Provider, RecordId } from '../../../providers/provider.ts';
import { cutText } from '../../protocol/text/cut.ts';
import { errorText } from '../../protocol/text/error-text.ts';
import { ProviderBug } from './answer-check/provider-bug.ts';
import type { IdForm } from './answer-check/values.ts';

/** The connection, as configured, whose records the ids name. */
export interface IdReader {
  readonly name: string;
  readonly provider: Pick<Provider, 'canonicalId' | 'idInAddress' | 'recordAddress'>;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly mask?: ((text: string) => string) | undefined;
}

const NOT_READ = 'its provider cannot read it: canonicalId returned neither an id nor a reason';
const LONGEST_REASON = 300;
const LONGEST_ADDRESS = 2_000;

/**
 * The answer of a pure function of a provider, such as `canonicalId`. Undefined for a promise, whose rejection would end the
 * process because nobody waits for it.
 */
export function pureAnswer<T>(answer: T): T | undefined {
  if (!(answer instanceof Promise)) return answer;
  answer.catch(() => undefined);
  return undefined;
}

/** Reads an id as a person, an export or the CRM spells it. A failure of the provider becomes the reason. Pure. */
export function readRecordId(reader: IdReader, text: string): RecordId {
  try {
    return canonicalIdOf(reader, text);
  } catch (error) {
    return { kind: 'none', reason: cutText(`its provider cannot read it: ${bugIn(reader, error)}`, LONGEST_REASON) };
  }
}

/**
 * Canonical form of the ids in a connection's answers; unchanged if the provider states none. Throws {@link
 * ProviderBug} if the provider fails: an id that cannot be read now must not pass for an id that no record has.
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

/** Undefined if the provider knows no address. `account` is undefined before the connection's first call. */
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
    // A missing link costs a search; a missing page or plan costs more.
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

/** Refuses texts that no CRM uses as ids. */
function readPlainId(text: string): RecordId {
  const id = text.trim();
  if (id === '') return { kind: 'none', reason: 'it is blank' };
  if (id.includes('://'))
    return { kind: 'none', reason: 'it is not the address of a company here: give only the id in it' };
  if (/[\s\p{Cc}]/u.test(id)) return { kind: 'none', reason: 'it contains spaces' };
  // The key of a lane that belongs to no record.
  if (id === '*') return { kind: 'none', reason: 'it stands for all records' };
  return { kind: 'id', id };
}
