/** Stores what a source states of companies that another one leads, and counts the differences. */

import { sql } from 'kysely';
import { isJsonObject } from '../../../../protocol/text/json.ts';
import { countRows } from '../../../../store/count.ts';
import { each } from '../../../../store/each.ts';
import { type InsertTarget, insertRows } from '../../../../store/insert-rows.ts';
import { readValue, writeValue } from '../../../../store/kv.ts';
import type { Db, Tx } from '../../../../store/store.ts';
import { diff, unitChanges } from '../../diff/diff.ts';
import type { DiffOptions } from '../../diff/differ.ts';
import type { Company } from '../../document/company.ts';
import { isBody } from '../../document/relations.ts';
import type { Unit } from '../../document/unit.ts';
import type { Origin } from '../../source/source.ts';
import { partsFrom, readOrigins } from './origins.ts';
import { WORDED_APART, withPartsOf } from './take-over.ts';

/** The parts of a snapshot as another source states them. */
export type SecondBody = Readonly<Record<string, unknown>>;

export interface SecondReading {
  readonly entity: string;
  readonly origin: Origin;
  readonly body: SecondBody;
  readonly digest: string;
  readonly loaded_at: string;
  readonly ahead: string | null;
  readonly ahead_at: number | null;
  readonly differs: string | null;
  readonly differs_since: number | null;
}

const comparedParts = (origin: Origin): readonly string[] =>
  [...partsFrom(origin).intersection(partsFrom('datafordeler'))].filter((part) => !WORDED_APART.has(part));

/** The parts of a snapshot that both sources cover and that it states. */
export const secondBodyOf = (snapshot: Company | Unit, origin: Origin, says: (part: string) => boolean): SecondBody => {
  const parts = comparedParts(origin).filter(says);
  const own = parts.filter((part) => !isBody(part) && Object.hasOwn(snapshot, part));
  const bodies = snapshot.kind === 'company' ? parts.filter(isBody) : [];
  return {
    ...Object.fromEntries(own.map((part) => [part, Object.getOwnPropertyDescriptor(snapshot, part)?.value])),
    ...(snapshot.kind === 'company' && {
      bodies: Object.fromEntries(bodies.map((body) => [body, snapshot.bodies[body]])),
    }),
  };
};

const OPTIONS: DiffOptions = { today: '', placeType: '', isRecoded: () => false };

/** The events that the differences between a snapshot and another source's reading would make. */
export function differencesOf(snapshot: Company | Unit, body: SecondBody): readonly string[] {
  const { bodies, ...own } = body;
  const unknown = new Set<string>(snapshot.unknown);
  const parts = new Set([...Object.keys(own), ...Object.keys(isJsonObject(bodies) ? bodies : {})]);
  const second = { ...snapshot, ...own } as typeof snapshot;
  const whole =
    second.kind === 'company' && snapshot.kind === 'company'
      ? { ...second, bodies: { ...snapshot.bodies, ...(isJsonObject(bodies) && bodies) } }
      : second;
  // A part that the leading source never mentioned is unknown, so it is not a difference.
  const other = withPartsOf(whole, snapshot, parts.intersection(unknown));
  if (snapshot.kind === 'company' && other.kind === 'company') return Object.keys(diff(other, snapshot, OPTIONS));
  if (snapshot.kind === 'unit' && other.kind === 'unit') {
    const company = snapshot.company.value === null ? other.company : snapshot.company;
    const differs = unitChanges(other, { ...snapshot, company }, OPTIONS).length > 0;
    return differs ? ['pUnitUpdated'] : [];
  }
  return [];
}

export async function readSeconds(db: Db, entities: readonly string[]): Promise<ReadonlyMap<string, SecondReading[]>> {
  const rows = await db.selectFrom('second_reading').selectAll().where('entity', 'in', each(db, entities)).execute();
  // The watcher wrote the body.
  const readings = rows.flatMap(({ origin, body, ...row }): readonly SecondReading[] =>
    readOrigins(origin).map((name) => ({ ...row, origin: name, body: JSON.parse(body) as SecondBody })),
  );
  return Map.groupBy(readings, ({ entity }) => entity);
}

const SECONDS: InsertTarget = {
  table: 'second_reading',
  columns: ['entity', 'origin', 'body', 'digest', 'loaded_at', 'ahead', 'ahead_at', 'differs', 'differs_since'],
  rest: `on conflict (entity, origin) do update set ${[
    'body',
    'digest',
    'loaded_at',
    'ahead',
    'ahead_at',
    'differs',
    'differs_since',
  ]
    .map((column) => `${column} = excluded.${column}`)
    .join(', ')}`,
};

export async function storeSeconds(tx: Tx, seconds: readonly SecondReading[]): Promise<void> {
  await insertRows(
    tx,
    SECONDS,
    seconds.map((one) => [
      ...[one.entity, one.origin, JSON.stringify(one.body), one.digest, one.loaded_at],
      ...[one.ahead, one.ahead_at, one.differs, one.differs_since],
    ]),
  );
}

/** Deletes the second readings of a source that leads now. */
export async function dropSeconds(tx: Tx, origin: Origin, entities: readonly string[]): Promise<void> {
  if (entities.length === 0) return;
  await tx
    .deleteFrom('second_reading')
    .where('origin', '=', origin)
    .where('entity', 'in', each(tx, entities))
    .execute();
}

const COMPARING_KEY = 'register-compared';

/** Stores which sources are compared with a leading one: all but the first of the configuration. */
export const storeComparing = async (tx: Tx, origins: readonly Origin[], now: number): Promise<void> =>
  writeValue(tx, COMPARING_KEY, [...new Set(origins)].slice(1).join(' '), now);

export interface SourceDifferences {
  readonly origin: Origin;
  /** Companies and production units that both sources state, up to a limit. */
  readonly compared: number;
  /** How many of them differ for longer than a source may be late, up to the same limit. */
  readonly differing: number;
  readonly byEvent: Readonly<Record<string, number>>;
  readonly example: string | undefined;
}

/** How long the sources may differ, because one loads a change later. */
const DIFFERS_AFTER_MS = 6 * 3_600_000;
const MOST_COUNTED = 100_000;

/** The differences of each source from the leading one. */
export async function readDifferences(db: Db, now: number): Promise<readonly SourceDifferences[]> {
  const found: SourceDifferences[] = [];
  for (const origin of readOrigins((await readValue(db, COMPARING_KEY)) ?? '')) {
    const ofOrigin = db.selectFrom('second_reading').where('origin', '=', origin).limit(MOST_COUNTED);
    const compared = await countRows(db, ofOrigin.select(sql.lit(1).as('one')));
    if (compared === 0) continue;
    const differing = ofOrigin.select(['entity', 'differs']).where('differs_since', '<=', now - DIFFERS_AFTER_MS);
    const rows = await db
      .selectFrom(differing.as('differing'))
      .select(({ fn }) => [
        'differs',
        fn.min('entity').as('example'),
        sql<number>`cast(count(*) as bigint)`.as('count'),
      ])
      .groupBy('differs')
      .execute();
    const byEvent: Record<string, number> = {};
    for (const { differs, count } of rows)
      for (const event of (differs ?? '').split(' ')) byEvent[event] = (byEvent[event] ?? 0) + count;
    const count = rows.reduce((sum, row) => sum + row.count, 0);
    found.push({ origin, compared, differing: count, byEvent, example: rows[0]?.example ?? undefined });
  }
  return found;
}

/** Whether so many differ that one source is wrong or misread. */
export const differsTooMuch = ({ compared, differing }: SourceDifferences): boolean =>
  differing >= 10 && differing * 20 >= compared;
