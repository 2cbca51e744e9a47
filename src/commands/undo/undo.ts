/** `undo`: restores the values that cvrsync overwrote, as a run. */
import { UNDO_HOLD_MS } from '../../connector/undo/undo-record.ts';
import { countWrites, readAffected, type Selection } from '../../connector/undo/writes.ts';
import { requestUndo } from '../../operations/connector/run-requests.ts';
import { confirmRun } from '../../operations/installation/runs.ts';
import { lengthText } from '../../protocol/text/length.ts';
import { findRun, type StoredRun } from '../../runtime/runs/runs.ts';
import type { Store } from '../../store/store.ts';
import { readEntity } from '../arguments/entity.ts';
import { needConnector } from '../arguments/record-argument.ts';
import { durationOrForever, time } from '../arguments/time.ts';
import { needProvider } from '../arguments/with-monitoring.ts';
import { withStore } from '../arguments/with-store.ts';
import { defineCommand, type ExitCode, flag, integer, positive, text, UsageError } from '../cli/command.ts';
import { canAsk, confirm } from '../cli/confirm.ts';
import type { CommandContext } from '../cli/context.ts';
import { countOf } from '../cli/count-of.ts';
import { performHere } from '../operations/operation-command.ts';
import type { CarryOut } from '../progress/carry-out-run.ts';
import { undoer } from './carry-out.ts';
import { NOTHING, readOutcome, report, restoredIn, type UndoNotes, type UndoOutcome } from './report.ts';

export const command = defineCommand({
  name: 'undo',
  examples: ['undo --provider hubspot --since 2h --dry-run', 'undo --entity CVR-1-10000001 --property name'],
  about: 'restore the values that cvrsync replaced, in properties that still hold what it wrote',
  options: {
    event: integer('undo the writes of this event; `explain` shows its number'),
    entity: text('undo writes for this company', 'id'),
    provider: text('undo writes in this CRM only', 'name'),
    since: time('undo writes from this time on'),
    until: time('undo writes before this time'),
    property: text('undo writes of this property only', 'name'),
    limit: positive('restore at most this many records; the next run continues'),
    hold: durationOrForever('how long cvrsync leaves the restored values alone: 90d, forever (default 30d)'),
    dryRun: flag('show what cvrsync would restore, and write nothing'),
    yes: flag('restore without asking'),
  },
  run: async (context, _args, { dryRun, yes, limit, hold, ...given }) => {
    const { event, entity, since, provider } = given;
    if (event === undefined && entity === undefined && since === undefined)
      throw new UsageError(
        'name the writes: --event ID, --entity ID, or --since TIME; --provider, --until and --property narrow them',
      );
    const connector = await needConnector(context);
    if (provider !== undefined) needProvider(connector, provider);
    const selection: Selection = {
      ...given,
      entity: entity === undefined ? undefined : readEntity(entity, context.log),
    };
    const options = optionsOf(selection, limit, hold);
    return withStore<ExitCode>(context, async (store) => {
      const nothing = event === undefined ? NOTHING : await readEvent(store, event);
      const affected = await readAffected(store.db, selection);
      const notes = { nothing, connector, options, holdMs: hold ?? UNDO_HOLD_MS, dryRun };
      if (!dryRun && !yes && !canAsk(context) && affected.length > 0)
        throw cannotAsk(affected.length, await countWrites(store.db, selection), limit);
      const providers = [...new Set(affected.map(({ provider }) => provider))];
      const carryOut = undoer(context, store, connector, providers);
      return undoAsRun(context, store, notes, { yes, carryOut });
    });
  },
});

/** Turns ages into times, because the run takes a while. */
function optionsOf({ since, until, ...selection }: Selection, limit: number | undefined, hold: number | undefined) {
  const instant = (ms: number | undefined): string | undefined =>
    ms === undefined ? undefined : new Date(ms).toISOString();
  const length = hold === undefined ? undefined : lengthText(hold);
  return { ...selection, limit, since: instant(since), until: instant(until), hold: length };
}

function cannotAsk(records: number, values: number, limit: number | undefined): UsageError {
  const most = limit === undefined ? '' : `, at most ${countOf(limit, 'record')} of them now`;
  return new UsageError(
    `this would restore up to ${countOf(values, 'value')} in ${countOf(records, 'record')}${most}. cvrsync cannot ask here: add --yes, or try it first with --dry-run`,
  );
}

async function undoAsRun(
  context: CommandContext,
  store: Store,
  notes: UndoNotes,
  { yes, carryOut }: { readonly yes: boolean; readonly carryOut: CarryOut },
): Promise<ExitCode> {
  const ground = { store, now: Date.now };
  const { id } = await performHere(requestUndo, notes.options, ground);
  const outcomeOf = (run: StoredRun<unknown>): Promise<UndoOutcome> => readOutcome(context, store.db, run, notes);
  const asked = await findRun(store.db, id);
  // Continues a run that was confirmed before, but not in a dry run.
  if (asked?.stage === 'run') return report(context, await outcomeOf(notes.dryRun ? asked : await carryOut(id)), notes);
  const previewed = await outcomeOf(await carryOut(id));
  if (notes.dryRun || previewed.run.state !== 'done') return report(context, previewed, notes);
  if (!yes && !(await isMeant(context, previewed, notes))) return 0;
  await performHere(confirmRun, { run: id }, ground);
  return report(context, await outcomeOf(await carryOut(id)), notes);
}

/** Shows what an undo would do, and asks. */
async function isMeant(context: CommandContext, previewed: UndoOutcome, notes: UndoNotes): Promise<boolean> {
  report(context, previewed, notes);
  const restored = restoredIn(previewed.done);
  if (restored.length === 0) return false;
  const concerned = new Set(restored.map(({ provider, record }) => `${provider}:${record}`));
  const question = `Restore ${countOf(restored.length, 'value')} in ${countOf(concerned.size, 'record')}?`;
  return (await confirm(context, question)) === true;
}

/** The message if the event wrote nothing. Throws if the event does not exist. */
async function readEvent({ db }: Store, seq: number): Promise<string> {
  const written = await db.selectFrom('history').select('entity').where('seq', '=', seq).limit(1).executeTakeFirst();
  const receipt = await db.selectFrom('receipt').select('entity').where('seq', '=', seq).executeTakeFirst();
  const entity = written?.entity ?? receipt?.entity;
  if (entity === undefined)
    throw new Error(`there is no event ${seq}: cvrsync explain ENTITY_ID shows the events of a company by number`);
  const later = await db
    .selectFrom('history')
    .select(({ fn }) => fn.min('seq').as('seq'))
    .where('entity', '=', entity)
    .where('seq', '>', seq)
    .where('outcome', '=', 'written')
    .executeTakeFirst();
  const carrier =
    later?.seq == null
      ? ''
      : ` The next write for ${entity} was that of event ${later.seq}, which includes all before it.`;
  return `Event ${seq} wrote nothing.${carrier}`;
}
