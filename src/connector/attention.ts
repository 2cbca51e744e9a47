/** What needs a person: parked work, values a CRM would not take, links in doubt, bodies nobody could read. */

import { drop as dropLane, parked, unpark } from '../runtime/lane-state.ts';
import { mark } from '../runtime/lanes.ts';
import type { Db, Tx } from '../store/open.ts';
import { type DifferenceFilter, readDifferences, settleDifference } from './differences.ts';
import { BRAKE_KEY } from './heal/brake.ts';
import { endLink, findLink, linkKey, MONITORING_QUEUE } from './links.ts';
import type { RulingRef } from './ruling.ts';

/** `difference` kept by the rules; `lane` parked work; `value` set aside; `link` in conflict, or refused by the monitoring service; `body` quarantined. */
export type AttentionKind = 'lane' | 'value' | 'link' | 'body' | 'difference';

export interface Attention {
  /** Names it for `retry` and `drop`: the kind and its parts between slashes, each percent-encoded. */
  readonly id: string;
  readonly kind: AttentionKind;
  /** What it is about: `sync:hubspot 123`, `hubspot:123 industry`. */
  readonly about: string;
  readonly reason: string;
  /** Ms since 1970; null where it is not known. */
  readonly since: number | null;
  /** What retry and drop would do, and what to do first. */
  readonly advice: string;
  /** Whether a retry is a person's decision, and not just another try. */
  readonly decides: boolean;
}

/** What became of a retry or a drop. */
export type Resolved =
  | { readonly kind: 'done'; readonly note: string }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'impossible'; readonly reason: string };

const idOf = (kind: AttentionKind, ...parts: readonly (string | number)[]): string =>
  [kind, ...parts.map((part) => encodeURIComponent(part).replaceAll('%3A', ':'))].join('/');

/** Everything that needs a person but for differences, which are no fault; lanes first, each kind oldest or by name. Reads indexes of the exceptions only, except for links. */
export async function readAttention(db: Db): Promise<readonly Attention[]> {
  return [...(await readLanes(db)), ...(await readLinks(db)), ...(await readValues(db)), ...(await readBodies(db))];
}

/** Differences as things that a person may decide. */
export const readDifferent = async (db: Db, filter: DifferenceFilter, limit: number): Promise<readonly Attention[]> =>
  (await readDifferences(db, filter, limit)).map(({ provider, recordId, property, entity, crm, register, since }) => ({
    id: idOf('difference', provider, recordId, property),
    kind: 'difference',
    about: `${provider}:${recordId} ${property}`,
    reason: `the CRM holds ${crm}, the register says ${register} of ${entity}`,
    since,
    advice: 'retry lets the register win once; drop holds what the CRM has',
    decides: true,
  }));

async function readLanes(db: Db): Promise<readonly Attention[]> {
  return (await parked(db)).map(({ queue, key, error, parkedAt, attempts }) => ({
    decides: key === BRAKE_KEY,
    id: idOf('lane', queue, key),
    kind: 'lane',
    about: `${queue} ${key}`,
    reason: error ?? `failed ${attempts} times`,
    since: parkedAt,
    advice: 'retry tries it again now; drop gives it up until the next change',
  }));
}

async function readLinks(db: Db): Promise<readonly Attention[]> {
  const rows = await db
    .selectFrom('link')
    .select(['provider', 'record_id', 'entity', 'state', 'reason', 'monitored', 'monitored_error', 'updated_at'])
    .where(({ eb, and, or }) =>
      or([
        eb('state', '=', 'conflict'),
        and([eb('state', '=', 'active'), eb('wish', '=', 'on'), eb('monitored', '=', 'refused')]),
      ]),
    )
    .orderBy('provider')
    .orderBy('record_id')
    .execute();
  return rows.map((row) => {
    const isConflict = row.state === 'conflict';
    return {
      id: idOf('link', row.provider, row.record_id),
      kind: 'link',
      about: `${row.provider}:${row.record_id} ${row.entity}`,
      reason: isConflict
        ? `in conflict: ${row.reason ?? 'two companies claim the record'}`
        : `the monitoring service refused it: ${row.monitored_error ?? 'without a reason'}`,
      since: row.updated_at,
      decides: isConflict,
      advice: isConflict
        ? 'retry keeps this link; drop removes it and ends its monitoring'
        : 'retry asks the service again; drop removes the link',
    };
  });
}

async function readValues(db: Db): Promise<readonly Attention[]> {
  const rows = await db
    .selectFrom('property_state as state')
    .innerJoin('link', (join) =>
      join.onRef('link.provider', '=', 'state.provider').onRef('link.record_id', '=', 'state.record_id'),
    )
    .select(['state.provider', 'state.record_id', 'state.property', 'state.refused', 'state.refused_reason'])
    .where('state.refused', 'is not', null)
    .where('link.state', '=', 'active')
    .orderBy('state.provider')
    .orderBy('state.property')
    .orderBy('state.record_id')
    .execute();
  return rows.map((row) => ({
    id: idOf('value', row.provider, row.record_id, row.property),
    kind: 'value',
    about: `${row.provider}:${row.record_id} ${row.property} = ${row.refused}`,
    reason: row.refused_reason ?? 'the CRM would not take it',
    since: null,
    advice: 'correct the property or the mapping, then retry; drop forgets it until the next change',
    decides: false,
  }));
}

async function readBodies(db: Db): Promise<readonly Attention[]> {
  const rows = await db.selectFrom('quarantine').select(['id', 'received_at', 'reason']).orderBy('id').execute();
  return rows.map((row) => ({
    id: idOf('body', row.id),
    kind: 'body',
    about: `webhook body ${row.id}`,
    reason: row.reason,
    since: row.received_at,
    advice: 'it cannot be retried: correct it and feed it with `cvrsync receive FILE`; drop deletes it',
    decides: false,
  }));
}

/** Tries one thing again: the work is made due, and the daemon does it. Idempotent. */
export async function retryAttention(tx: Tx, id: string, now: number): Promise<Resolved> {
  const named = readId(id);
  if (named === undefined) return { kind: 'unknown' };
  const [first, second, third] = named.parts;
  switch (named.kind) {
    case 'lane':
      return (await unpark(tx, first, second, now)) ? done('due now') : { kind: 'unknown' };
    case 'value': {
      if (!(await forget(tx, first, second, third))) return { kind: 'unknown' };
      await mark(tx, `sync:${first}`, [second], now);
      return done('the record is synced again');
    }
    case 'difference':
      return settled(await settleDifference(tx, differenceOf(named.parts), 'register', now), 'the register wins once');
    case 'link':
      return retryLink(tx, first, second, now);
    case 'body': {
      const found = await tx.selectFrom('quarantine').select('id').where('id', '=', Number(first)).executeTakeFirst();
      if (found === undefined) return { kind: 'unknown' };
      return {
        kind: 'impossible',
        reason: 'a body that could not be read cannot be retried: feed it with `cvrsync receive FILE`',
      };
    }
  }
}

/** Gives one thing up. */
export async function dropAttention(tx: Tx, id: string, now: number): Promise<Resolved> {
  const named = readId(id);
  if (named === undefined) return { kind: 'unknown' };
  const [first, second, third] = named.parts;
  switch (named.kind) {
    case 'lane':
      return (await dropLane(tx, first, second)) ? done('given up') : { kind: 'unknown' };
    case 'value':
      return (await forget(tx, first, second, third)) ? done('forgotten') : { kind: 'unknown' };
    case 'difference':
      return settled(await settleDifference(tx, differenceOf(named.parts), 'crm', now), 'held as the CRM has it');
    case 'link':
      return dropLink(tx, first, second, now);
    case 'body':
      return (await deleteBody(tx, Number(first))) ? done('deleted') : { kind: 'unknown' };
  }
}

const done = (note: string): Resolved => ({ kind: 'done', note });
const settled = (found: boolean, note: string): Resolved => (found ? done(note) : { kind: 'unknown' });

const differenceOf = ([provider, recordId, property]: Parts): RulingRef => ({ provider, recordId, property });

type Parts = readonly [string, string, string];

const PARTS: Readonly<Record<AttentionKind, number>> = { lane: 2, value: 3, link: 2, body: 1, difference: 3 };

function readId(id: string): { readonly kind: AttentionKind; readonly parts: Parts } | undefined {
  const [kind = '', ...parts] = id.split('/');
  if (kind !== 'lane' && kind !== 'value' && kind !== 'link' && kind !== 'body' && kind !== 'difference')
    return undefined;
  if (parts.length !== PARTS[kind] || (kind === 'body' && !/^\d{1,15}$/u.test(parts[0] ?? ''))) return undefined;
  try {
    const [first = '', second = '', third = ''] = parts.map(decodeURIComponent);
    return { kind, parts: [first, second, third] };
  } catch {
    return undefined;
  }
}

async function forget(tx: Tx, provider: string, record: string, property: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('property_state')
    .set({ refused: null, refused_reason: null, refused_schema: null })
    .where('provider', '=', provider)
    .where('record_id', '=', record)
    .where('property', '=', property)
    .where('refused', 'is not', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

async function deleteBody(tx: Tx, id: number): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('quarantine').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n;
}

/** What upstream last said no longer counts: it is asked again. */
async function retryLink(tx: Tx, provider: string, record: string, now: number): Promise<Resolved> {
  if (!(await isInDoubt(tx, provider, record))) return { kind: 'unknown' };
  await mark(tx, `sync:${provider}`, [record], now);
  await mark(tx, MONITORING_QUEUE, [linkKey(provider, record)], now);
  await tx
    .updateTable('link')
    .set({ state: 'active', reason: null, wish: 'on', monitored: 'unknown', monitored_error: null, updated_at: now })
    .where('provider', '=', provider)
    .where('record_id', '=', record)
    .execute();
  return done('the link is active, monitoring is asked for');
}

async function dropLink(tx: Tx, provider: string, recordId: string, now: number): Promise<Resolved> {
  if (!(await isInDoubt(tx, provider, recordId))) return { kind: 'unknown' };
  await endLink(tx, { provider, recordId, state: 'removed', reason: 'dropped by a person', now });
  return done('the link is removed, monitoring ends');
}

async function isInDoubt(tx: Tx, provider: string, recordId: string): Promise<boolean> {
  const link = await findLink(tx, { provider, recordId });
  return link !== undefined && (link.state === 'conflict' || (link.state === 'active' && link.monitored === 'refused'));
}
