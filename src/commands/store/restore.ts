/** `restore`: puts a copy of the store in its place, and records in the store that it is older. */
import { copyFile, rename, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Config } from '../../config/load.ts';
import { keyFileOf } from '../../service/keys/secrets.ts';
import { openStore } from '../../store/engines/open.ts';
import { lockStore } from '../../store/file/lock.ts';
import { noteSeen } from '../../store/file/marker.ts';
import { resolveStore } from '../../store/file/place.ts';
import { prepareFile } from '../../store/prepare-file.ts';
import { lastSignOf, recordGap } from '../../store/recovery/gap.ts';
import { type Activity, activitySince, checkedCopy, putInPlace, removeCopy } from '../../store/recovery/restore.ts';
import { isPostgresUrl, type Store } from '../../store/store.ts';
import { time } from '../arguments/time.ts';
import { shownStore, withStore } from '../arguments/with-store.ts';
import { defineCommand, type ExitCode, flag, optional, UsageError } from '../cli/command.ts';
import { confirmMany } from '../cli/confirm.ts';
import type { CommandContext } from '../cli/context.ts';
import { shownTime } from '../cli/when.ts';

export const command = defineCommand({
  name: 'restore',
  examples: ['restore backups/cvrsync.db', 'restore --mark --since 2026-03-01'],
  audit: 'store.restore',
  about:
    'put a copy that backup made in the place of the store (SQLite), or record that the store was restored (--mark)',
  args: { file: optional('the copy; its key is taken from FILE.key') },
  options: {
    yes: flag('restore without asking'),
    mark: flag('only record that the store was restored by other means, such as pg_restore or Litestream'),
    since: time('with --mark: the time of the copy (default: the last time that the store knows)'),
  },
  run: async (context, { file }, { yes, mark, since }) => {
    const config = await context.config([]);
    if (mark === (file !== undefined)) throw new UsageError('name the copy to restore, or give --mark without a file');
    if (file === undefined) return markRestored(context, since);
    if (since !== undefined) throw new UsageError('--since belongs to --mark');
    if (isPostgresUrl(config.store))
      throw new UsageError('restore a PostgreSQL store with pg_restore, then run cvrsync restore --mark');
    prepareFile(config.store);
    const place = resolveStore(config.store);
    const lock = lockStore(place);
    try {
      return await restore(context, config, { from: file, place, yes });
    } finally {
      await removeCopy(place);
      lock.close();
    }
  },
});

const NEXT =
  'Start the daemon, then run `cvrsync monitoring update`: it asks for the whole state of each linked company. ' +
  '`cvrsync reconcile` finds links that are missing.';

async function markRestored(context: CommandContext, since: number | undefined): Promise<ExitCode> {
  const gap = await withStore(context, (store) =>
    store.write((tx) => recordGap(tx, { cause: 'restored', since }, Date.now())),
  );
  context.output.result(
    { since: gap.since, until: gap.until },
    `The store records that it holds nothing from ${shownTime(gap.since)} to ${shownTime(gap.until)}. ${NEXT}`,
  );
  return 0;
}

interface Asked {
  readonly from: string;
  readonly place: string;
  readonly yes: boolean;
}

async function restore(context: CommandContext, config: Config, { from, place, yes }: Asked): Promise<ExitCode> {
  const now = Date.now();
  const working = await checkedCopy(from, place);
  const store = await openStore(working);
  let since: number;
  try {
    since = (await lastSignOf(store.db, now)) || Math.min(now, Math.trunc((await stat(from)).mtimeMs));
    const missing = activitySince(place, since);
    const holds = await halvesIn(store);
    refuseOtherHalf(config, holds);
    for (const line of [...describe(from, { since, now, holds }, missing), ...(await keyNotes(config, from))])
      context.output.line(line);
    const question = `Restore ${shownStore(config.store)} to ${shownTime(since)}?`;
    if (!(await confirmMany(context, yes, question, 'run it at a terminal'))) return 1;
    await store.write((tx) => recordGap(tx, { cause: 'restored', since }, now));
  } finally {
    await store.close();
  }
  const suffix = `.replaced-${new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
  const kept = await putInPlace(place, `${place}${suffix}`);
  noteSeen(place, undefined);
  await restoreKey(config.store, from, suffix);
  const where = kept === undefined ? '' : ` The old store is ${kept}: delete it when you no longer need it.`;
  context.output.result(
    { store: place, from: resolve(from), since, until: now, replaced: kept ?? null },
    `Restored ${place} to ${shownTime(since)}.${where} ${NEXT}`,
  );
  return 0;
}

/** How much a store holds of each half. */
interface Halves {
  readonly links: number;
  readonly monitors: number;
  readonly companies: number;
}

async function halvesIn({ db }: Store): Promise<Halves> {
  const countOf = async (table: 'link' | 'monitor' | 'snapshot'): Promise<number> => {
    const { count } = await db
      .selectFrom(table)
      .select((eb) => eb.fn.countAll().as('count'))
      .executeTakeFirstOrThrow();
    return Number(count);
  };
  return { links: await countOf('link'), monitors: await countOf('monitor'), companies: await countOf('snapshot') };
}

/** Throws if the copy holds only the half that the configuration does not run. */
function refuseOtherHalf({ connector, service }: Config, { links, monitors, companies }: Halves): void {
  const ofService = monitors + companies > 0;
  if (service === undefined && ofService && links === 0)
    throw new Error('the copy is of a service, and the configuration runs only the connector: name another copy');
  if (connector === undefined && links > 0 && !ofService)
    throw new Error('the copy is of a connector, and the configuration runs only the service: name another copy');
}

interface Copy {
  readonly since: number;
  readonly now: number;
  readonly holds: Halves;
}

function describe(from: string, { since, now, holds }: Copy, missing: Activity | undefined): readonly string[] {
  const { links, monitors, companies } = holds;
  const byHand = Object.entries(missing?.actions ?? {}).filter(([action]) => !action.startsWith('store.'));
  const actions = byHand.map(([action, count]) => `${action} (${count})`);
  return [
    `${resolve(from)} is sound. It is of ${shownTime(since)}, ${ageText(now - since)} ago, and holds ${links} links, ${monitors} monitors and ${companies} companies of the register.`,
    missing === undefined
      ? 'No store can be read in its place: what came since the copy is unknown.'
      : `The store in place holds ${missing.events} events and ${missing.decisions} decisions from after the copy. They will be missing.`,
    ...(actions.length === 0 ? [] : [`Repeat by hand what people did since the copy: ${actions.join(', ')}.`]),
  ];
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** A length of time for people, in its largest unit. */
function ageText(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms >= each) ?? ['minute', 60_000];
  const count = Math.floor(ms / size);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** Warns if nothing can decrypt the secrets in the copy. */
async function keyNotes({ service, store }: Config, from: string): Promise<readonly string[]> {
  if (service === undefined || service.secretKey !== undefined) return [];
  const known = (await keyFileOf(from)) ?? (await keyFileOf(store));
  return known === undefined
    ? [`There is no ${from}.key: the secrets of monitors in the copy cannot be decrypted.`]
    : [];
}

/** Puts the copy of the key in place, too, and renames the old key. */
async function restoreKey(store: string, from: string, suffix: string): Promise<void> {
  const key = await keyFileOf(from);
  if (key === undefined) return;
  const old = await keyFileOf(store);
  if (old !== undefined) await rename(old, `${store}${suffix}.key`);
  await copyFile(key, `${store}.key`);
}
