/** Reads a record's id from the command line. */
import type { ConnectorConfig } from '../../config/load.ts';
import { readRecordId } from '../../connector/crm/fence/record-id.ts';
import { UsageError } from '../cli/command.ts';

/** The canonical id in a text. Throws {@link UsageError} where the connection can have no record with that id. */
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

/** The canonical ids that a text may stand for in these connections. Throws {@link UsageError} where it fits none of them. */
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
