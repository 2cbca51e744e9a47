/** `store copy`: copies the whole installation into another store, and compares both row by row. */
import type { Config } from '../../config/load.ts';
import { recordAudit } from '../../runtime/operators/audit.ts';
import { openStore } from '../../store/engines/open.ts';
import { resolveStore } from '../../store/file/place.ts';
import { type CopyPlaces, type CopyPlan, closeBoth, openCopy, planCopy } from '../../store/move/begin.ts';
import { type CheckedTable, checkRows, copyRows } from '../../store/move/copy.ts';
import { shownPlace } from '../../store/move/mark.ts';
import { commonTables, countTable } from '../../store/move/rows.ts';
import { isPostgresUrl, type Store, type Tx } from '../../store/store.ts';
import { commandActor } from '../arguments/actor.ts';
import { requireStore } from '../arguments/with-store.ts';
import { defineCommand, type ExitCode, flag, text, UsageError } from '../cli/command.ts';
import { commandLine } from '../cli/command-line.ts';
import { confirmMany } from '../cli/confirm.ts';
import type { CommandContext } from '../cli/context.ts';
import { PLACES } from '../erase/places.ts';
import { grouped } from '../progress/rate.ts';
import { showCopying } from './progress.ts';
import { type MovedSecrets, moveSecrets } from './secret-files.ts';

export const copy = defineCommand({
  name: 'copy',
  examples: ['store copy --to postgres://cvrsync@db.example.com/cvrsync', 'store copy --to data/cvrsync.db --yes'],
  about:
    'copy the whole store to another one, SQLite or PostgreSQL, and compare both row by row; stop the daemon first. ' +
    'Run it again if it was stopped: it continues',
  options: {
    to: text('the empty store to copy to: a file, or a postgres:// address; must be given', 'store'),
    yes: flag('copy without asking'),
  },
  run: async (context, _args, { to: toUrl, yes }) => {
    const config = await context.config([]);
    const { store: fromUrl } = config;
    if (toUrl === undefined) throw new UsageError('say where: --to FILE, or --to postgres://…');
    requireStore(fromUrl);
    if (placeKey(fromUrl) === placeKey(toUrl)) throw new UsageError('the store cannot be copied to where it is');
    const from = await openPart(fromUrl, false);
    try {
      const to = await openPart(toUrl, 'new').catch((cause: unknown) => {
        throw new Error(`${shownPlace(toUrl)} cannot take the copy`, { cause });
      });
      try {
        const tables = await commonTables(from.db, to.db, Object.keys(PLACES).toSorted());
        return await copyStore(context, config, { places: { from, to, fromUrl, toUrl, tables }, yes });
      } finally {
        await to.close();
      }
    } finally {
      await from.close();
    }
  },
});

const placeKey = (url: string): string => (isPostgresUrl(url) ? shownPlace(url) : resolveStore(url));

/** Locks a SQLite store as its daemon does, until the end: no daemon can run or start. */
const openPart = (url: string, migrate: false | 'new'): Promise<Store> =>
  openStore(url, { migrate, mayBeMoved: true, claim: !isPostgresUrl(url) });

interface Asked {
  readonly places: CopyPlaces;
  readonly yes: boolean;
}

async function copyStore(context: CommandContext, config: Config, { places, yes }: Asked): Promise<ExitCode> {
  const { from, to, fromUrl, toUrl, tables } = places;
  const plan = await planCopy(places, Date.now());
  let [total, before] = [0, 0];
  for (const table of tables) total += await countTable(from, table);
  if (plan.goesOn) for (const table of tables) before += await countTable(to, table);
  const rows = plan.goesOn
    ? `${grouped(total - before)} of ${grouped(total)} rows that are left`
    : `${grouped(total)} rows`;
  const question = `Copy ${rows} from ${shownPlace(fromUrl)} to ${shownPlace(toUrl)}?`;
  if (!(await confirmMany(context, yes, question, 'run it at a terminal'))) return 1;
  await closeBoth(places, plan, (tx) => audit(tx, toUrl, 'begun'), Date.now());
  // With the audit row that came with the mark.
  const progress = showCopying(context, plan.isMarked ? total : total + 1);
  const deps = { from, to, tables, signal: context.signal, now: Date.now, report: progress.add };
  try {
    progress.begin('copying', before);
    await copyRows(deps);
    progress.begin('comparing', 0);
    const checked = await checkRows(deps);
    const secrets = await moveSecrets(fromUrl, toUrl, {
      secretKey: config.service?.secretKey !== undefined,
      token: config.admin.token !== undefined,
    });
    await openCopy(places, plan, (tx) => audit(tx, toUrl, 'done'), Date.now());
    progress.end();
    return report(context, places, { plan, checked, secrets });
  } catch (error) {
    progress.end();
    if (context.signal.aborted) context.log.warn(`stopped; to go on: ${commandLine(context, 'store copy --to …')}`);
    throw error;
  }
}

const audit = (tx: Tx, toUrl: string, result: string): Promise<void> =>
  recordAudit(
    tx,
    { actor: commandActor(), via: 'command', action: 'store.copy', subject: shownPlace(toUrl), result },
    Date.now(),
  );

interface Copied {
  readonly plan: CopyPlan;
  readonly checked: readonly CheckedTable[];
  readonly secrets: MovedSecrets;
}

function report(
  { output, json }: CommandContext,
  { fromUrl, toUrl }: CopyPlaces,
  { plan, checked, secrets }: Copied,
): ExitCode {
  const rows = checked.reduce((sum, table) => sum + table.rows, 0);
  const [from, to] = [shownPlace(fromUrl), shownPlace(toUrl)];
  const steps = [
    `Name ${to} as \`store\` in the configuration.`,
    ...secrets.toSet,
    'Start the daemon.',
    `Keep ${from} until you know that all works: no daemon starts on it any more. To go back, cvrsync store reopen.`,
  ];
  if (json) {
    output.result({ from, to, continued: plan.goesOn, rows, tables: checked, files: secrets.copied, next: steps });
    return 0;
  }
  output.line(`Copied ${grouped(rows)} rows in ${checked.length} tables to ${to}: each is the same in both stores.`);
  for (const file of secrets.copied) output.line(`Copied ${file} beside it.`);
  output.line('Now, in this order:');
  for (const [at, step] of steps.entries()) output.line(`${at + 1}. ${step}`);
  return 0;
}
