/**
 * Erasures: entities whose data an operator erased. The store keeps only a salted digest of each entity id and name.
 * Code that stores data about entities asks here first, in its transaction, so that they stay erased.
 */

import { randomBytes } from 'node:crypto';
import { lockUntilCommit } from '../advisory-lock.ts';
import { storable } from '../each.ts';
import { readValue, writeValue } from '../kv.ts';
import type { Db, Tx } from '../store.ts';
import { createNameFinder, digestOf, nameDigest } from './name-finder.ts';
import { type ErasedWords, type RedactOptions, redact } from './redact.ts';

/** The erased entities, as one transaction sees them. */
export interface Erasures {
  /** Changes with the list. */
  readonly version: string;
  has(entity: string): boolean;
  /** Replaces erased entities in a JSON value or text by aliases, and removes their names and addresses. */
  redact<T>(value: T, options?: RedactOptions): T;
  /** Whether a text, JSON or not, contains the number or name of an erased entity. */
  isNamedIn(text: string): boolean;
}

const SALT = 'erasure:salt';

const NONE: Erasures = { version: '', has: () => false, redact: (value) => value, isNamedIn: () => false };
/** Reads the erased entities. In a transaction, holds off new erasures until it ends. */
export async function readErasures(db: Db): Promise<Erasures> {
  await holdOff(db);
  const rows = await db.selectFrom('erasure').select('digest').orderBy('digest').execute();
  const salt = rows.length === 0 ? undefined : await readValue(db, SALT);
  if (salt === undefined) return NONE;
  return erasuresOf(salt, new Set(rows.map(({ digest }) => digest)));
}

/** Removes erased entities from texts, and characters that an engine cannot store. */
export async function redactTexts(tx: Tx, texts: readonly (string | null)[]): Promise<readonly (string | null)[]> {
  if (texts.every((text) => text === null)) return texts;
  const { redact } = await readErasures(tx);
  return texts.map((text) => (text === null ? null : redact(storable(text))));
}

function erasuresOf(salt: string, digests: ReadonlySet<string>): Erasures {
  const words = wordsOf(salt, digests);
  return {
    version: [...digests].join(' '),
    has: (entity) => words.aliasOf(entity) !== undefined,
    redact: (value, options) => redact(value, words, options),
    isNamedIn: (text) => words.finder.hasNumber(text) || words.finder.hasName(text),
  };
}

function wordsOf(salt: string, digests: ReadonlySet<string>): ErasedWords {
  return {
    aliasOf(entity) {
      const digest = digestOf(salt, entity);
      return digests.has(digest) ? aliasOfDigest(digest) : undefined;
    },
    finder: createNameFinder(salt, digests),
  };
}

/** The ids and names to erase, digested as the store's list will have them. */
export async function erasedWords(db: Db, entities: readonly string[], names: readonly string[]): Promise<ErasedWords> {
  const salt = (await readValue(db, SALT)) ?? randomBytes(32).toString('base64url');
  return wordsOf(salt, new Set(digestsOf(salt, entities, names)));
}

const digestsOf = (salt: string, entities: readonly string[], names: readonly string[]): readonly string[] => [
  ...entities.map((entity) => digestOf(salt, entity)),
  ...new Set(names.flatMap((name) => nameDigest(salt, name) ?? [])),
];

/** In a transaction, holds off new erasures until it ends. */
async function holdOff(db: Db): Promise<void> {
  if (db.isTransaction) await lockUntilCommit(db, 'erasures', 'shared');
}

/** The start of the newest erasure, in ms. Holds off new erasures until the transaction ends. */
export async function newestErasure(tx: Tx): Promise<number | undefined> {
  await holdOff(tx);
  const { at } = await tx
    .selectFrom('erasure')
    .select((row) => row.fn.max('begun_at').as('at'))
    .executeTakeFirstOrThrow();
  return at ?? undefined;
}

export async function withoutErased<T>(
  tx: Tx,
  rows: readonly T[],
  entityOf: (row: T) => string | null,
): Promise<readonly T[]> {
  if (rows.length === 0) return rows;
  const erasures = await readErasures(tx);
  return rows.filter((row) => !erasures.has(entityOf(row) ?? ''));
}

/** Throws, with the remedy, if the entity was erased. */
export async function refuseErased(tx: Tx, entity: string): Promise<void> {
  if ((await readErasures(tx)).has(entity))
    throw new Error(`${entity} was erased: cvrsync erase ${entity} --lift ends that`);
}

/**
 * Records the entities as erased, after all transactions that may have read the list; returns the digest of the first.
 * `rest` is the state to resume from after a crash, kept until {@link endErasure}. Call it first in its transaction.
 */
export async function beginErasure(
  tx: Tx,
  { entities, names }: { readonly entities: readonly string[]; readonly names: readonly string[] },
  rest: string,
  now: number,
): Promise<string> {
  await lockUntilCommit(tx, 'erasures', 'exclusive');
  const salt = (await readValue(tx, SALT)) ?? randomBytes(32).toString('base64url');
  await writeValue(tx, SALT, salt, now);
  const digests = digestsOf(salt, entities, names);
  for (const digest of digests)
    await tx
      .insertInto('erasure')
      .values({ digest, erased_with: digests[0] ?? digest, begun_at: now, done_at: null, rest })
      .onConflict((conflict) => conflict.column('digest').doUpdateSet({ done_at: null, rest }))
      .execute();
  return digests[0] ?? '';
}

/** The state of an interrupted erasure. */
export async function readRest(db: Db, entity: string): Promise<string | undefined> {
  const salt = await readValue(db, SALT);
  if (salt === undefined) return undefined;
  const row = await db
    .selectFrom('erasure')
    .select('rest')
    .where('digest', '=', digestOf(salt, entity))
    .executeTakeFirst();
  return row?.rest ?? undefined;
}

/** Ends an erasure: from now on the store keeps only the digests. */
export async function endErasure(tx: Tx, entity: string, now: number): Promise<void> {
  const digest = digestOf((await readValue(tx, SALT)) ?? '', entity);
  await tx.updateTable('erasure').set({ done_at: now, rest: null }).where('erased_with', '=', digest).execute();
}

/** Allows data about the entity and its production units again; false if it was not erased. */
export async function liftErasure(tx: Tx, entity: string): Promise<boolean> {
  const digest = digestOf((await readValue(tx, SALT)) ?? '', entity);
  const { numDeletedRows } = await tx.deleteFrom('erasure').where('erased_with', '=', digest).executeTakeFirst();
  return numDeletedRows > 0n;
}

/**
 * An alias: an id too long for a company or person, whose numbers have eight or ten digits. Each erased entity has its
 * own, so that two in one list remain distinct.
 */
export const aliasOfDigest = (digest: string): string =>
  `CVR-3-9${(BigInt(`0x${digest.slice(0, 14)}`) % 10n ** 14n).toString().padStart(14, '0')}`;
