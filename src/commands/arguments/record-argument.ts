/** The record that a command acts on, given as `hubspot:123`. */
import type { ConnectorConfig } from '../../config/load.ts';
import { readRecordId } from '../../connector/crm/record-id.ts';
import { type RecordRef, readLinkKey } from '../../connector/names/queues.ts';
import { UsageError } from '../cli/command.ts';
import type { CommandContext } from '../cli/context.ts';
import { needProvider } from './with-monitoring.ts';

/** The connector's configuration; secrets of the CRMs may be unset. Throws {@link UsageError} without a connector. */
export async function needConnector(context: CommandContext): Promise<ConnectorConfig> {
  const { connector } = await context.config([]);
  if (connector === undefined)
    throw new UsageError('the configuration has no connector section: add one, or name another file with --config');
  return connector;
}

/** Means every record of a connection, in place of a record id. */
export const EVERY_RECORD = '*';

/**
 * Reads `hubspot:123`, with the connection's name in any case; the address of the record's page in the CRM, with or
 * without the connection before it; or `hubspot:*` for all records of a connection.
 */
export function readRecord(text: string, connector: Pick<ConnectorConfig, 'providers'>): RecordRef {
  if (/^https?:\/\//iu.test(text)) return recordAt(text, connector);
  const ref = readLinkKey(text);
  if (!text.includes(':') || ref.provider === '' || ref.recordId === '')
    throw new UsageError(`${text} is not a record: write it as hubspot:123, or as the address of its page in the CRM`);
  const { name: provider } = needProvider(connector, nameIn(ref.provider, connector));
  if (ref.recordId === EVERY_RECORD) return { provider, recordId: EVERY_RECORD };
  return { provider, recordId: needRecordId(connector, provider, ref.recordId) };
}

/** The connection of a name in any case. */
export function nameIn(text: string, { providers }: Pick<ConnectorConfig, 'providers'>): string {
  const alike = providers.filter(({ name }) => name.toLowerCase() === text.toLowerCase());
  const [only] = alike;
  return only !== undefined && alike.length === 1 ? only.name : text;
}

function recordAt(address: string, { providers }: Pick<ConnectorConfig, 'providers'>): RecordRef {
  const found = providers.flatMap((one): RecordRef[] => {
    const read = readRecordId(one, address);
    return read.kind === 'id' ? [{ provider: one.name, recordId: read.id }] : [];
  });
  const [only] = found;
  if (only === undefined) throw new UsageError(`${address} is the address of no company in a configured CRM`);
  if (found.length === 1) return only;
  const names = found.map(({ provider }) => `${provider}:${address}`).join(' or ');
  throw new UsageError(`${address} may be a record of several connections: write ${names}`);
}

/** Where to look for the linked records. */
export const linksHint = (provider: string): string => `see cvrsync links ${provider}`;

/** The canonical id in a text. Throws {@link UsageError} if it cannot be a record of the connection. */
export function needRecordId(
  { providers }: Pick<ConnectorConfig, 'providers'>,
  provider: string,
  text: string,
): string {
  const config = providers.find(({ name }) => name === provider);
  if (config === undefined) return text;
  const read = readRecordId(config, text);
  if (read.kind === 'id') return read.id;
  throw new UsageError(`${text} cannot be a record of ${provider}: ${read.reason}`);
}

/** The canonical ids of a text in these connections. Throws {@link UsageError} if it is not an id in any of them. */
export function recordIdsIn(
  { providers }: Pick<ConnectorConfig, 'providers'>,
  provider: string | undefined,
  text: string,
): readonly string[] {
  if (provider !== undefined) return [needRecordId({ providers }, provider, text)];
  const reads = providers.map((one) => ({ name: one.name, read: readRecordId(one, text) }));
  const ids = new Set(reads.flatMap(({ read }) => (read.kind === 'id' ? read.id : [])));
  if (ids.size > 0 || providers.length === 0) return [...ids];
  const reasons = reads.flatMap(({ name, read }) => (read.kind === 'none' ? `${name}: ${read.reason}` : []));
  throw new UsageError(`${text} cannot be a record: ${reasons.join('; ')}`);
}
