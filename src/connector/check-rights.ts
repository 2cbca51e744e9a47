/** Whether credentials may do what a connection is configured for, before the first write finds out. */
import type { Connection, Right } from '../../providers/provider.ts';
import type { EventName } from '../protocol/events.ts';
import type { Finding, Findings } from '../runtime/finding.ts';

export interface RightsToCheck {
  readonly name: string;
  readonly notes: readonly EventName[];
  readonly parent: boolean;
}

/** What a lack of the right stops; a `warn` stops a command, a `fail` the daemon's own work. */
const LACKS: Readonly<Record<Right, { readonly level: Finding['level']; readonly found: string }>> = {
  read: { level: 'fail', found: 'these credentials may not read companies' },
  update: { level: 'fail', found: 'these credentials may not write companies: nothing would be updated' },
  notes: { level: 'fail', found: 'these credentials may not leave and find notes, which `notes` asks for' },
  parents: { level: 'fail', found: 'these credentials may not set the parent of a company, which `parent` asks for' },
  create: { level: 'warn', found: 'these credentials may not create companies: `transfer` would be refused' },
  define: {
    level: 'warn',
    found: 'these credentials may not make properties: `check --create-properties` would be refused',
  },
};

/** Asks the CRM which rights are missing, of those that the configuration needs; writes nothing. */
export async function checkRights(
  config: RightsToCheck,
  connection: Connection,
  lacksProperties: boolean,
  signal: AbortSignal,
): Promise<Findings> {
  const rights: readonly Right[] = [
    'read',
    'update',
    ...(config.notes.length > 0 && connection.notes !== undefined ? (['notes'] as const) : []),
    ...(config.parent && connection.parents !== undefined ? (['parents'] as const) : []),
    ...(connection.create === undefined ? [] : (['create'] as const)),
    ...(lacksProperties && connection.defineProperties !== undefined ? (['define'] as const) : []),
  ];
  const missing = (await connection.missingRights?.(rights, signal)) ?? [];
  const subject = `${config.name} rights`;
  return missing.map(({ right, reason }): Finding => ({ ...LACKS[right], subject, advice: reason }));
}
