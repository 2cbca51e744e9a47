/**
 * The accepted configuration and its former versions. The installation runs by it, even if the files of its daemons
 * differ. It holds digests of secrets, not the secrets.
 */
import { sql } from 'kysely';
import { digestOf } from '../protocol/text/digest.ts';
import { type Db, engineOf, type Tx } from '../store/store.ts';
import { type Digests, differingParts, readDaemons } from './daemons.ts';

export type ConfigContent = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface ConfigParts {
  readonly digests: Digests;
  readonly content: ConfigContent;
}

export interface VersionEntry {
  readonly id: number;
  readonly digest: string;
  readonly acceptedAt: number;
  readonly acceptedBy: string;
}

export interface ConfigVersion extends VersionEntry, ConfigParts {}

const KEPT = 200;

/** The version in force, or another one. */
export async function readVersion(db: Db, id?: number): Promise<ConfigVersion | undefined> {
  const row = await db
    .selectFrom('config_version')
    .selectAll()
    .$if(id !== undefined, (query) => query.where('id', '=', id ?? 0))
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { accepted_at: acceptedAt, accepted_by: acceptedBy, digests, content, ...rest } = row;
  // This file wrote them.
  return { ...rest, acceptedAt, acceptedBy, digests: JSON.parse(digests), content: JSON.parse(content) };
}

/** Newest first. */
export async function listVersions(
  db: Db,
  { before, limit }: { readonly before?: number | undefined; readonly limit: number },
): Promise<readonly VersionEntry[]> {
  const rows = await db
    .selectFrom('config_version')
    .select(['id', 'digest', 'accepted_at', 'accepted_by'])
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? 0))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ id, digest, accepted_at, accepted_by }) => {
    return { id, digest, acceptedAt: accepted_at, acceptedBy: accepted_by };
  });
}

/** The name of the part with a connection's mapping. */
export const mappingPart = (connection: string): string => `providers.${connection}.mapping`;

const MAPPING_PART = /^providers\.([\w-]+)\.mapping$/u;

/** The connection of a mapping part; undefined for another part. */
export const connectionOfPart = (part: string): string | undefined => MAPPING_PART.exec(part)?.[1];

const HALF = 'connector';

/** Stores rules in the version in force; without rules, removes the connection from it. */
export async function acceptMapping(
  tx: Tx,
  connection: string,
  rules: object | undefined,
  { by, now }: { readonly by: string; readonly now: number },
): Promise<void> {
  await lockVersions(tx);
  const head = await readVersion(tx);
  // A first start accepts everything.
  if (head?.content[HALF] === undefined) return;
  const part = mappingPart(connection);
  const gone = rules === undefined ? [part, `providers.${connection}`] : [];
  const without = <V>(parts: Readonly<Record<string, V>> = {}): Record<string, V> =>
    Object.fromEntries(Object.entries(parts).filter(([name]) => !gone.includes(name)));
  const next = {
    content: { ...head.content, [HALF]: { ...without(head.content[HALF]), ...(rules && { [part]: rules }) } },
    digests: { ...head.digests, [HALF]: { ...without(head.digests[HALF]), ...(rules && { [part]: digestOf(rules) }) } },
  };
  await addVersion(tx, head, next, { by, now });
}

/**
 * Accepts a daemon's file, except mappings, which are accepted elsewhere. While another daemon runs by the version in
 * force, accepts nothing, because that daemon's file may be newer. Returns the parts that differ and were not accepted.
 */
export async function acceptSettings(
  tx: Tx,
  own: ConfigParts,
  { daemon, now, by }: { readonly daemon: string; readonly now: number; readonly by?: string | undefined },
): Promise<readonly string[]> {
  await lockVersions(tx);
  const head = await readVersion(tx);
  const settings = head === undefined ? [] : differingSettings(head.digests, own.digests);
  const isWhole = head !== undefined && Object.keys(own.digests).every((half) => head.digests[half] !== undefined);
  if (isWhole && settings.length === 0) return [];
  if (head !== undefined && by === undefined && settings.length > 0) {
    const others = (await readDaemons(tx, now)).filter(({ id }) => id !== daemon);
    if (others.some(({ digests }) => differingSettings(head.digests, digests).length === 0)) return settings;
  }
  const next = { content: merged(head?.content, own.content), digests: merged(head?.digests, own.digests) };
  await addVersion(tx, head, next, { by: by ?? (head === undefined ? 'first start' : 'start'), now });
  return [];
}

/** The parts that differ and need no acceptance. The removal of a connection needs it. */
export const differingSettings = (inForce: Digests, own: Digests): readonly string[] =>
  differingParts(inForce, own).filter((path) => {
    const [half = '', part = ''] = [path.slice(0, path.indexOf('.')), path.slice(path.indexOf('.') + 1)];
    const isRemoval = part.startsWith('providers.') && own[half]?.[part] === undefined;
    return connectionOfPart(part) === undefined && !isRemoval;
  });

/** `head` with the parts of `own`; keeps the mappings of `head`, and halves and connections that `own` lacks. */
function merged<V>(
  head: Readonly<Record<string, Readonly<Record<string, V>>>> = {},
  own: Readonly<Record<string, Readonly<Record<string, V>>>>,
): Record<string, Readonly<Record<string, V>>> {
  const halves = Object.entries(own).map(([half, parts]) => {
    const before = Object.entries(head[half] ?? {});
    const kept = before.filter(
      ([part]) => connectionOfPart(part) !== undefined || (part.startsWith('providers.') && parts[part] === undefined),
    );
    return [half, { ...parts, ...Object.fromEntries(kept) }] as const;
  });
  return { ...head, ...Object.fromEntries(halves) };
}

async function addVersion(
  tx: Tx,
  head: ConfigVersion | undefined,
  { content, digests }: ConfigParts,
  { by, now }: { readonly by: string; readonly now: number },
): Promise<void> {
  const digest = digestOf(digests);
  if (digest === head?.digest) return;
  const texts = { digests: JSON.stringify(digests), content: JSON.stringify(content) };
  await tx
    .insertInto('config_version')
    .values({ digest, accepted_at: now, accepted_by: by, ...texts })
    .execute();
  const [oldest] = await listVersions(tx, { limit: 1 });
  if (oldest === undefined) return;
  await tx
    .deleteFrom('config_version')
    .where('id', '<=', oldest.id - KEPT)
    .execute();
}

/** One at a time, because each version builds on the one before. */
async function lockVersions(tx: Tx): Promise<void> {
  if (engineOf(tx) === 'postgres') await sql`lock table config_version in share row exclusive mode`.execute(tx);
}
