/** The record that a person rules on. */
import type { ConnectorConfig } from '../../config/load.ts';
import { findLink, type Link, type RecordRef, readLinkKey } from '../../connector/links/links.ts';
import type { Db } from '../../store/open.ts';
import { UsageError } from '../cli/command.ts';
import type { CommandContext } from '../cli/context.ts';
import { needProvider } from '../monitoring/context.ts';
import { needRecordId } from './record-id.ts';

/** The connector's configuration; without one nothing can be ruled. */
export async function needConnector(context: CommandContext): Promise<ConnectorConfig> {
  const { connector } = await context.config();
  if (connector === undefined) throw new UsageError('the configuration has no connector section');
  return connector;
}

/** In the place of a record's id: all of them. */
export const EVERY_RECORD = '*';

/** The record in `hubspot:123`, or all of a connection in `hubspot:*`. */
export function readRecord(text: string, connector: ConnectorConfig): RecordRef {
  const ref = readLinkKey(text);
  if (!text.includes(':') || ref.provider === '' || ref.recordId === '')
    throw new UsageError(`${text} is no record such as hubspot:123`);
  needProvider(connector, ref.provider);
  if (ref.recordId === EVERY_RECORD) return ref;
  return { ...ref, recordId: needRecordId(connector, ref.provider, ref.recordId) };
}

/**
 * The record's link; a override on a record that nobody knows would be a mistyped one, and one on a record that was merged
 * away would change nothing: its overrides went along.
 */
export async function needLink(db: Db, ref: RecordRef): Promise<Link> {
  const link = await findLink(db, ref);
  if (link === undefined)
    throw new Error(`${ref.provider}:${ref.recordId} is linked to no company: see cvrsync links ${ref.provider}`);
  if (link.state === 'merged')
    throw new Error(`${ref.provider}:${ref.recordId} was ${link.reason ?? 'merged in the CRM'}: name that one instead`);
  return link;
}

/** Throws where the connection writes no such property. */
export function needProperty(connector: ConnectorConfig, { provider }: RecordRef, property: string): void {
  const rows = connector.providers.find((each) => each.name === provider)?.mapping ?? [];
  const names = [...new Set(rows.filter((row) => row.policy !== 'never').map((row) => row.property))];
  if (names.includes(property)) return;
  const field = rows.find((row) => row.field === property && row.policy !== 'never')?.property;
  const hint =
    field === undefined ? `it writes ${names.join(', ')}` : `did you mean ${field}, the property of ${property}?`;
  throw new UsageError(`${provider} writes no property ${property}: ${hint}`);
}
