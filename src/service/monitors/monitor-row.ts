import { type Selectable, sql } from 'kysely';
import { type EventName, isEventName } from '../../protocol/events.ts';
import { each } from '../../store/each.ts';
import type { MonitorTable } from '../../store/service-schema.ts';
import type { Db, Tx } from '../../store/store.ts';
import type { Secrets } from '../keys/secrets.ts';
import type { Monitor, Security } from './monitor.ts';
import { openAddress } from './webhook-address.ts';

export type MonitorRow = Selectable<MonitorTable>;

/** What the fan-out needs of a monitor; secrets stay encrypted. */
export interface Listener
  extends Pick<Monitor, 'id' | 'name' | 'target' | 'events' | 'emails' | 'mailFrequency' | 'enabled' | 'enabledAt'> {
  /** The entities of the query that the monitor lists. */
  readonly entities: ReadonlySet<string>;
  readonly hasWebhook: boolean;
}

/** Reads a row and decrypts its secrets. Throws if another key encrypted them. */
export function readMonitor(row: MonitorRow, secrets: Secrets): Monitor {
  return {
    id: row.id,
    name: row.name,
    owner: row.owner,
    provider: row.provider,
    target: row.target,
    events: readEvents(row.events),
    url: openAddress(row.url, secrets),
    security: readSecurity(row.security, secrets),
    schedule: row.schedule === null ? null : readList<number>(row.schedule),
    postsPerMinute: row.posts_per_minute,
    emails: readList<string>(row.emails),
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

// Only `writeSecurity` writes the column, and the encryption proves it.
const readSecurity = (sealed: string, secrets: Secrets): Security => JSON.parse(secrets.open(sealed)) as Security;

export const writeSecurity = (security: Security, secrets: Secrets): string => secrets.seal(JSON.stringify(security));

/** The events of a row without names that this version does not know. Null: all. */
const readEvents = (json: string | null): readonly EventName[] | null =>
  json === null ? null : readList<string>(json).filter(isEventName);

// Only monitors.ts writes these columns, after checking the members.
const readList = <T>(json: string): readonly T[] => JSON.parse(json) as readonly T[];

/** The names of monitors by id. Removed monitors are absent. */
export async function monitorNames(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom('monitor')
    .select(['id', 'name'])
    .where('id', 'in', each(db, [...new Set(ids)]))
    .execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** The ids of the monitors that a text names: the monitor with this id, else those with this name in any case. */
export async function monitorIdsOf(db: Db, text: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('monitor')
    .select(['id'])
    .where(({ or, eb }) =>
      or([eb('id', '=', text), eb('name', '=', text), eb(sql`lower(name)`, '=', sql`lower(${text})`)]),
    )
    .orderBy('id')
    .execute();
  const ids = rows.map(({ id }) => id);
  return ids.includes(text) ? [text] : ids;
}

export interface ListenerQuery {
  /** Selects monitors that list one of these. */
  readonly entities: readonly string[];
  /** Selects monitors by id. */
  readonly only?: readonly string[];
  /** Whether to select monitors of all companies; true by default. */
  readonly all?: boolean;
}

/**
 * The enabled monitors that changes of these entities may go to, by id: monitors of all companies, those that list
 * one of the entities, and those named. Does not decrypt secrets.
 */
export async function fanOutMonitors(tx: Tx, query: ListenerQuery): Promise<readonly Listener[]> {
  const { entities, only = [], all = true } = query;
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
  // Thousands of monitors share a few selections.
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
    emails: row.emails === '[]' ? NOBODY : readList<string>(row.emails),
    mailFrequency: row.mail_frequency,
    enabled: row.enabled === 1,
    enabledAt: row.enabled_at,
  }));
}

const NONE: ReadonlySet<string> = new Set();
const NOBODY: readonly string[] = [];
