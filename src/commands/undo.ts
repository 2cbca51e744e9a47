/** `undo`: restores the values that cvrsync overwrote. */
import type { ConnectorConfig } from '../config/load.ts';
import { type Crm, openCrm } from '../connector/crm/crm.ts';
import type { Undone } from '../connector/undo/outcome.ts';
import { undo } from '../connector/undo/run.ts';
import type { Selection } from '../connector/undo/writes.ts';
import { createMetrics } from '../http/metrics.ts';
import { openClient } from '../http/outbound/client.ts';
import { errorText } from '../protocol/text/error-text.ts';
import type { Store } from '../store/open.ts';
import { readEntity } from './arguments/entity.ts';
import { needConnector } from './arguments/record-argument.ts';
import { withStore } from './arguments/with-store.ts';
import { defineCommand, flag, integer, text, time, UsageError } from './cli/command.ts';
import type { CommandContext } from './cli/context.ts';
import { showWaiting } from './cli/waiting.ts';
import { connectionPart, needProvider } from './monitoring/context.ts';

/** Lines shown to a person; `--json` shows all. */
const SHOWN = 100;
const LOG_EVERY_MS = 5_000;

/** Results that need no person. */
const FINE: ReadonlySet<Undone['kind']> = new Set(['restored', 'nothing', 'undone']);

export const command = defineCommand({
  name: 'undo',
  audit: 'undo.run',
  about: 'put back what properties held before cvrsync wrote them, where the CRM still holds what it wrote',
  options: {
    event: integer('undo what this event wrote; `explain` shows its number'),
    entity: text('undo what cvrsync wrote for this company', 'id'),
    provider: text('undo writes in this CRM only', 'name'),
    since: time('undo what cvrsync wrote at or after this time'),
    until: time('undo what cvrsync wrote before this time'),
    property: text('undo writes of this property only', 'name'),
    dryRun: flag('show what cvrsync would restore, and write nothing'),
  },
  run: async (context, _args, { dryRun, entity, ...options }) => {
    if (options.event === undefined && entity === undefined && options.since === undefined)
      throw new UsageError(
        'name what to take back: --event ID, --entity ID, or --since TIME; --provider, --until and --property narrow it',
      );
    const company = entity === undefined ? undefined : readEntity(entity, context.log);
    const selection: Selection = { ...options, entity: company };
    const connector = await needConnector(context);
    if (options.provider !== undefined) needProvider(connector, options.provider);
    return withStore(context, async (store) => {
      const nothing = options.event === undefined ? NOTHING : await readEvent(store, options.event);
      const done = await take(context, { connector, store }, selection, dryRun);
      const staying = options.property === undefined ? timesOfChange(connector, done) : [];
      return report(context, done, dryRun, { nothing, staying });
    });
  },
});

async function take(
  context: CommandContext,
  { connector, store }: { readonly connector: ConnectorConfig; readonly store: Store },
  selection: Selection,
  dryRun: boolean,
): Promise<readonly Undone[]> {
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
    await undo(
      {
        ...deps,
        leaseMs: connector.limits.leaseSeconds * 1_000,
        crm,
        dryRun,
        waiting: showWaiting(context),
        report(some, progress) {
          done.push(...some);
          if (Date.now() - loggedAt < LOG_EVERY_MS) return;
          loggedAt = Date.now();
          context.log.info(progress, 'undoing');
        },
      },
      selection,
      context.signal,
    );
  } catch (error) {
    const restored = done.filter(({ kind }) => kind === 'restored').length;
    if (dryRun || restored === 0) throw error;
    const reason = errorText(error);
    throw new Error(`undo restored ${restored} properties and then failed: ${reason}. Run it again to continue`, {
      cause: error,
    });
  } finally {
    await client.close();
  }
  return done;
}

const NOTHING = 'Nothing was written that this could take back.';

/** What to say where the event wrote nothing. Throws where there is no such event. */
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
      : ` The next write for ${entity} was that of event ${later.seq}, which carries all before it.`;
  return `Event ${seq} wrote nothing.${carrier}`;
}

/** The properties that say when the register last changed: they are left as they are unless they are named. */
function timesOfChange({ providers }: ConnectorConfig, done: readonly Undone[]): readonly string[] {
  const concerned = new Set(done.map(({ provider }) => provider));
  const rows = providers.filter(({ name }) => concerned.has(name)).flatMap(({ mapping }) => mapping);
  const times = rows.filter(({ field, policy }) => field === 'registerChangedAt' && policy !== 'never');
  return [...new Set(times.map(({ property }) => property))];
}

interface UndoNotes {
  /** What to say where nothing was written. */
  readonly nothing: string;
  /** The properties that an undo leaves alone. */
  readonly staying: readonly string[];
}

function report(
  context: CommandContext,
  done: readonly Undone[],
  dryRun: boolean,
  { nothing, staying }: UndoNotes,
): 0 | 3 {
  const { output } = context;
  const counts = Object.fromEntries(
    [...Map.groupBy(done, ({ kind }) => kind)].map(([kind, all]) => [kind, all.length]),
  );
  const left = done.filter(({ kind }) => !FINE.has(kind)).length;
  if (context.json) output.result({ dryRun, counts, properties: done }, '');
  else {
    output.table(done.slice(0, SHOWN).map(rowOf), nothing);
    if (done.length > SHOWN) output.line(`… and ${done.length - SHOWN} more: --json shows all.`);
    for (const line of summary(counts['restored'] ?? 0, left, dryRun)) output.line(line);
    if (staying.length > 0)
      output.line(
        `${staying.join(', ')} stays as it is, because the register did change then. Name it with --property to restore it too.`,
      );
  }
  return left > 0 ? 3 : 0;
}

const rowOf = ({ provider, record, property, kind, from, to, reason }: Undone) => ({
  record: `${provider}:${record}`,
  property,
  result: kind,
  from: shown(from),
  to: to === undefined ? '' : shown(to),
  reason: reason ?? '',
});

const shown = (value: Undone['from']): string => (value === null ? '(blank)' : String(value));

function summary(restored: number, left: number, dryRun: boolean): readonly string[] {
  const held =
    'Each is held from now on, or the next sync would write it again: cvrsync hold RECORD PROPERTY --clear ends that (PROVIDER:* for all).';
  const lines = dryRun
    ? [`${restored} would be restored. Nothing was written.`]
    : restored > 0
      ? [`${restored} restored. ${held}`]
      : [];
  return left > 0 ? [...lines, `${left} left as they are, for the reasons given.`] : lines;
}
