/** Monitors as the store keeps them: rows to what the service speaks of, and back. */
import type { Selectable } from 'kysely';
import { type EventName, isEventName } from '../../protocol/events.ts';
import { each } from '../../store/each.ts';
import type { MonitorTable } from '../../store/service-schema.ts';
import type { Tx } from '../../store/store.ts';
import type { Listener } from '../changes/fan-out.ts';
import type { Secrets } from '../keys/secrets.ts';
import type { Monitor, Security } from './monitor.ts';

export type MonitorRow = Selectable<MonitorTable>;

/** A row as a monitor, its secrets opened. Throws where they were sealed with another key. */
export function readMonitor(row: MonitorRow, secrets: Secrets): Monitor {
  return {
    id: row.id,
    name: row.name,
    owner: row.owner,
    provider: row.provider,
    target: row.target,
    events: readEvents(row.events),
    url: row.url,
    security: readSecurity(row.security, secrets),
    schedule: row.schedule === null ? null : listed<number>(row.schedule),
    emails: listed<string>(row.emails),
    mailFrequency: row.mail_frequency,
    enabled: row.enabled === 1,
    enabledAt: row.enabled_at,
    disabledReason: row.disabled_reason,
    disabledAt: row.disabled_at,
    failingSince: row.failing_since,
    failedAttempts: row.failed_attempts,
    notices: row.notices,
    createdAt: row.created_at,
  };
}

// Only `writeSecurity` writes the column, and the seal proves that nobody else did.
const readSecurity = (sealed: string, secrets: Secrets): Security => JSON.parse(secrets.open(sealed)) as Security;

/** Credentials and signing secrets as the store keeps them. */
export const writeSecurity = (security: Security, secrets: Secrets): string => secrets.seal(JSON.stringify(security));

/** The event selection of a row; a name a later version knew is left out. Null for all. */
const readEvents = (json: string | null): readonly EventName[] | null =>
  json === null ? null : listed<string>(json).filter(isEventName);

// Written by monitors.ts alone, which checks the members.
const listed = <T>(json: string): readonly T[] => JSON.parse(json) as readonly T[];

/** Which monitors a page of changes may be told to. */
export interface ListenersWanted {
  /** Whose changes may go to every monitor that lists them. */
  readonly entities: readonly string[];
  /** Monitors that are addressed by id. */
  readonly only?: readonly string[];
  /** Whether monitors of all companies are wanted. Default true. */
  readonly all?: boolean;
}

/**
 * The monitors that changes of these entities may concern, by id: those of everything, those that list one of the
 * entities, and those named. Only what was activated at some time: before that nothing is kept for it. Opens no secrets.
 */
export async function fanOutMonitors(tx: Tx, wanted: ListenersWanted): Promise<readonly Listener[]> {
  const { entities, only = [], all = true } = wanted;
  const pairs = await tx
    .selectFrom('item')
    .select(['monitor', 'entity'])
    .distinct()
    .where('entity', 'in', each(tx, entities))
    .execute();
  const lists = new Map<string, Set<string>>();
  for (const { monitor, entity } of pairs) {
    const list = lists.get(monitor);
    if (list === undefined) lists.set(monitor, new Set([entity]));
    else list.add(entity);
  }
  const rows = await tx
    .selectFrom('monitor')
    .select(['id', 'name', 'target', 'events', 'url', 'emails', 'mail_frequency', 'enabled', 'enabled_at'])
    .where('enabled_at', 'is not', null)
    .where(({ eb, or }) =>
      or([
        eb('id', 'in', each(tx, [...new Set([...lists.keys(), ...only])])),
        ...(all ? [eb('target', '=', 'all')] : []),
      ]),
    )
    .orderBy('id')
    .execute();
  // Thousands of monitors share a handful of selections.
  const selections = new Map<string | null, readonly EventName[] | null>();
  const selection = (json: string | null): readonly EventName[] | null => {
    const known = selections.get(json);
    if (known !== undefined) return known;
    const read = readEvents(json);
    selections.set(json, read);
    return read;
  };
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    target: row.target,
    entities: lists.get(row.id) ?? NONE,
    events: selection(row.events),
    hasWebhook: row.url !== null,
    emails: row.emails === '[]' ? NOBODY : listed<string>(row.emails),
    mailFrequency: row.mail_frequency,
    enabled: row.enabled === 1,
    enabledAt: row.enabled_at,
  }));
}

const NONE: ReadonlySet<string> = new Set();
const NOBODY: readonly string[] = [];
