/** `undo`: restores the values that cvrsync overwrote. */

import type { ConnectorConfig } from '../config/load.ts';
import { type Crm, openCrm } from '../connector/crm/crm.ts';
import type { Undone } from '../connector/undo/outcome.ts';
import { UNDO_HOLD_MS } from '../connector/undo/undo-record.ts';
import { type UndoRun, undo } from '../connector/undo/undo-run.ts';
import { countWrites, readAffected, type Selection } from '../connector/undo/writes.ts';
import { createMetrics } from '../http/metrics.ts';
import { openClient } from '../http/outbound/client.ts';
import { errorText } from '../protocol/text/error-text.ts';
import type { Store } from '../store/store.ts';
import { commandActor } from './arguments/actor.ts';
import { readEntity } from './arguments/entity.ts';
import { needConnector } from './arguments/record-argument.ts';
import { durationOrForever, lengthText, time } from './arguments/time.ts';
import { connectionPart, needProvider } from './arguments/with-monitoring.ts';
import { withStore } from './arguments/with-store.ts';
import { defineCommand, flag, integer, text, UsageError } from './cli/command.ts';
import { commandLine } from './cli/command-line.ts';
import { canAsk, confirm } from './cli/confirm.ts';
import type { CommandContext } from './cli/context.ts';
import { countOf } from './cli/count-of.ts';
import { showWaiting } from './cli/waiting.ts';
import { shownTime } from './cli/when.ts';

/** The most lines to show a person; `--json` shows all. */
const SHOWN = 100;
const LOG_EVERY_MS = 5_000;

/** Results that need no person. */
const FINE: ReadonlySet<Undone['kind']> = new Set(['restored', 'nothing', 'undone']);

export const command = defineCommand({
  name: 'undo',
  examples: ['undo --provider hubspot --since 2h --dry-run', 'undo --entity CVR-1-10000001 --property name'],
  audit: 'undo.run',
  about: 'restore the values that cvrsync replaced, in properties that still hold what it wrote',
  options: {
    event: integer('undo the writes of this event; `explain` shows its number'),
    entity: text('undo writes for this company', 'id'),
    provider: text('undo writes in this CRM only', 'name'),
    since: time('undo writes from this time on'),
    until: time('undo writes before this time'),
    property: text('undo writes of this property only', 'name'),
    limit: integer('restore at most this many records; the next run continues'),
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
    if (limit === 0) throw new UsageError('--limit 0 restores nothing: give a number of records');
    const connector = await needConnector(context);
    if (provider !== undefined) needProvider(connector, provider);
    const selection: Selection = {
      ...given,
      entity: entity === undefined ? undefined : readEntity(entity, context.log),
    };
    const options = { ...given, limit, hold };
    return withStore(context, async (store) => {
      const nothing = event === undefined ? NOTHING : await readEvent(store, event);
      const run = (isTry: boolean): Promise<UndoResult> =>
        take(context, { connector, store }, selection, { dryRun: isTry, limit, holdMs: hold });
      const notes = { nothing, connector, hold, options };
      if (dryRun) return report(context, await run(true), { ...notes, stage: 'dry' });
      if (!yes) {
        const meant = await mayUndo(context, { store, selection, limit }, async () => {
          const preview = await run(true);
          report(context, preview, { ...notes, stage: 'preview' });
          return preview;
        });
        if (!meant) return 0;
      }
      return report(context, await run(false), { ...notes, stage: 'done' });
    });
  },
});

interface UndoResult {
  readonly done: readonly Undone[];
  readonly left: number;
}

/** Shows what an undo would do, and asks for it. Without a terminal it says only how many values the store has. */
async function mayUndo(
  context: CommandContext,
  {
    store,
    selection,
    limit,
  }: { readonly store: Store; readonly selection: Selection; readonly limit: number | undefined },
  preview: () => Promise<UndoResult>,
): Promise<boolean> {
  const affected = await readAffected(store.db, selection);
  if (affected.length === 0) {
    await preview();
    return false;
  }
  if (!canAsk(context)) {
    const values = await countWrites(store.db, selection);
    const most = limit === undefined ? '' : `, at most ${countOf(limit, 'record')} of them now`;
    throw new UsageError(
      `this would restore up to ${countOf(values, 'value')} in ${countOf(affected.length, 'record')}${most}. cvrsync cannot ask here: add --yes, or try it first with --dry-run`,
    );
  }
  const { done } = await preview();
  const restored = done.filter(({ kind }) => kind === 'restored');
  if (restored.length === 0) return false;
  const concerned = new Set(restored.map(({ provider, record }) => `${provider}:${record}`));
  const values = restored.length === 1 ? '1 value' : `${restored.length} values`;
  return (await confirm(context, `Restore ${values} in ${countOf(concerned.size, 'record')}?`)) === true;
}

async function take(
  context: CommandContext,
  { connector, store }: { readonly connector: ConnectorConfig; readonly store: Store },
  selection: Selection,
  { dryRun, ...limits }: Pick<UndoRun, 'dryRun' | 'limit' | 'holdMs'>,
): Promise<UndoResult> {
  const client = openClient({ env: context.env });
  const deps = { store, http: client.http, metrics: createMetrics(), now: Date.now, log: context.log };
  const done: Undone[] = [];
  const crm = async (name: string): Promise<Crm | undefined> => {
    const config = connector.providers.find((each) => each.name === name);
    if (config !== undefined) await context.config([connectionPart(name)]);
    return config === undefined ? undefined : openCrm(deps, config);
  };
  let loggedAt = Date.now();
  try {
    const left = await undo(
      {
        ...deps,
        ...limits,
        leaseMs: connector.limits.leaseSeconds * 1_000,
        crm,
        by: { actor: commandActor(), via: 'command' },
        dryRun,
        waiting: showWaiting(context),
        report(some, progress) {
          done.push(...some);
          if (Date.now() - loggedAt < LOG_EVERY_MS) return;
          loggedAt = Date.now();
          context.log.info(progress, dryRun ? 'finding out what an undo would restore' : 'undoing');
        },
      },
      selection,
      context.signal,
    );
    return { done, left };
  } catch (error) {
    const restored = done.filter(({ kind }) => kind === 'restored').length;
    if (dryRun || restored === 0) throw error;
    const reason = errorText(error);
    throw new Error(
      `undo restored ${restored} properties and then failed: ${reason}. To go on: ${nextOf(context, { ...selection, limit: limits.limit, hold: limits.holdMs })}`,
      {
        cause: error,
      },
    );
  } finally {
    await client.close();
  }
}

const NOTHING = 'cvrsync wrote nothing that this could restore.';

/** The message if the event wrote nothing. Throws if there is no such event. */
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

/** The properties with the time of the register's last change, which undo restores only by name. */
function timesOfChange({ providers }: ConnectorConfig, done: readonly Undone[]): readonly string[] {
  const concerned = new Set(done.map(({ provider }) => provider));
  const rows = providers.filter(({ name }) => concerned.has(name)).flatMap(({ mapping }) => mapping);
  const times = rows.filter(({ field, policy }) => field === 'registerChangedAt' && policy !== 'never');
  return [...new Set(times.map(({ property }) => property))];
}

interface UndoReport {
  /** `preview`: shown before the question. */
  readonly stage: 'dry' | 'preview' | 'done';
  /** The message if nothing was written. */
  readonly nothing: string;
  readonly connector: ConnectorConfig;
  /** How long restored values are held, in ms; infinite for good. */
  readonly hold: number | undefined;
  readonly options: UndoOptions;
}

interface UndoOptions extends Pick<Selection, 'event' | 'entity' | 'provider' | 'since' | 'until' | 'property'> {
  readonly limit: number | undefined;
  readonly hold: number | undefined;
}

function report(context: CommandContext, { done, left }: UndoResult, notes: UndoReport): 0 | 3 {
  const { output } = context;
  const { stage, nothing, connector, options } = notes;
  const counts = Object.fromEntries(
    [...Map.groupBy(done, ({ kind }) => kind)].map(([kind, all]) => [kind, all.length]),
  );
  const kept = done.filter(({ kind }) => !FINE.has(kind)).length;
  const code = kept > 0 ? 3 : 0;
  if (context.json) {
    output.result({ dryRun: stage === 'dry', counts, left, properties: done }, '');
    return code;
  }
  output.table(done.slice(0, SHOWN).map(rowOf(stage)), nothing);
  if (done.length > SHOWN) output.line(`… and ${done.length - SHOWN} more: --json shows all.`);
  const restored = counts['restored'] ?? 0;
  if (stage !== 'done') output.line(`${restored} would be restored. Nothing was written.`);
  else if (restored > 0) output.line(`${restored} restored. ${heldText(notes)}`);
  if (kept > 0) output.line(`${kept} left as they are, for the reasons given.`);
  const staying = options.property === undefined ? timesOfChange(connector, done) : [];
  if (staying.length > 0)
    output.line(
      `${staying.join(', ')} stays as it is, because the register did change then. Name it with --property to restore it too.`,
    );
  if (stage === 'done' && done.length > 0)
    output.line(
      left > 0
        ? `${countOf(left, 'record')} left by --limit. To go on: ${nextOf(context, options)}`
        : 'Nothing is left to restore of what you named.',
    );
  return code;
}

const rowOf =
  (stage: UndoReport['stage']) =>
  ({ provider, record, property, kind, from, to, reason }: Undone) => ({
    record: `${provider}:${record}`,
    property,
    result: kind === 'restored' && stage !== 'done' ? 'to restore' : kind,
    from: shown(from),
    to: to === undefined ? '' : shown(to),
    reason: reason ?? '',
  });

const shown = (value: Undone['from']): string => (value === null ? '(blank)' : String(value));

function heldText({ hold = UNDO_HOLD_MS }: UndoReport): string {
  const until = Number.isFinite(hold) ? `until ${shownTime(Date.now() + hold)}` : 'until you end the hold';
  return `cvrsync holds each value ${until}, so that the next sync does not overwrite it. End a hold: cvrsync hold RECORD PROPERTY --clear. List holds: cvrsync hold list.`;
}

/** The command that continues this run, with ages as times, because the run took a while. */
function nextOf(context: CommandContext, { since, until, hold, ...options }: UndoOptions): string {
  const instant = (ms: number | undefined): string | undefined =>
    ms === undefined ? undefined : new Date(ms).toISOString();
  const length = hold === undefined ? undefined : lengthText(hold);
  return commandLine(context, 'undo', { ...options, since: instant(since), until: instant(until), hold: length });
}
