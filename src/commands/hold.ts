/** `hold`: stops writes to a property, or to a whole record. */

import type { RecordRef } from '../connector/names/queues.ts';
import { countHolds, endHoldsIn, listHolds } from '../connector/overrides/hold-list.ts';
import {
  ALL_PROPERTIES,
  clearOverride,
  type OverrideRef,
  readOverrides,
  setOverride,
  UNDONE,
} from '../connector/overrides/override.ts';
import type { Store } from '../store/store.ts';
import { EVERY_RECORD, needConnector, needLink, needProperty, readRecord } from './arguments/record-argument.ts';
import { duration, end } from './arguments/time.ts';
import { needProvider } from './arguments/with-monitoring.ts';
import { shownTime, withStore } from './arguments/with-store.ts';
import { defineCommand, type ExitCode, flag, integer, needed, optional, text, UsageError } from './cli/command.ts';
import { confirmMany } from './cli/confirm.ts';
import type { CommandContext } from './cli/context.ts';
import { timeCell } from './cli/when.ts';

const SHOWN = 1_000;

const filterOptions = {
  reason: text('only holds with this reason; `undone` is that of undo'),
  olderThan: duration('only holds that are older than this: 12h, 30d'),
};

const list = defineCommand({
  name: 'list',
  examples: ['hold list --provider hubspot --older-than 90d'],
  about: 'list the holds on records and properties',
  options: {
    ...filterOptions,
    provider: text('only holds in this CRM', 'name'),
    property: text('only holds on this property; * means holds on whole records', 'name'),
    limit: integer(`show at most this many (default ${SHOWN})`),
  },
  run: async (context, _args, { provider, property, reason, olderThan, limit = SHOWN }) => {
    const { providers } = await needConnector(context);
    return withStore<ExitCode>(context, async ({ db }) => {
      const now = Date.now();
      const filter = { provider, property, reason, before: beforeOf(olderThan, now) };
      const holds = await listHolds(db, now, filter, limit);
      // A connection that left the configuration may still have holds.
      if (holds.length === 0 && provider !== undefined) needProvider({ providers }, provider);
      context.output.table(
        holds.map((hold) => ({
          record: `${hold.provider}:${hold.recordId}`,
          property: hold.property,
          entity: hold.entity ?? '',
          since: timeCell(hold.since),
          until: hold.until === null ? 'cleared' : timeCell(hold.until),
          reason: hold.reason ?? '',
        })),
        'There is no such hold.',
      );
      const count = holds.length < limit ? holds.length : await countHolds(db, now, filter);
      if (count > holds.length)
        context.log.warn({ holds: count }, 'there are more holds: raise --limit, or narrow the list');
      return 0;
    });
  },
});

const beforeOf = (olderThan: number | undefined, now: number): number | undefined =>
  olderThan === undefined ? undefined : now - olderThan;

export const command = defineCommand({
  name: 'hold',
  examples: ['hold hubspot:1234567890 name --until 2027-01-31', 'hold "hubspot:*" --clear --older-than 90d'],
  audit: 'record.hold',
  about: 'stop all writes to a record or to one of its properties, until a date or until you end the hold',
  commands: [list],
  args: {
    record: needed('the record, such as hubspot:123; hubspot:* with --clear ends all holds that undo placed'),
    property: optional('the property in the CRM (default: the whole record)'),
  },
  options: {
    ...filterOptions,
    reason: text('the reason of the hold, which `explain` shows; with hubspot:*, only holds with this reason'),
    until: end('the last day of the hold, the time when it ends, or its length: 30d'),
    clear: flag('end the hold'),
    all: flag('with hubspot:* and --clear, end the holds of people too'),
    yes: flag('end several holds without a question'),
  },
  run: async (context, { record, property = ALL_PROPERTIES }, options) => {
    const connector = await needConnector(context);
    const ref = { ...readRecord(record, connector), property };
    checkOptions(ref, options);
    if (!options.clear && property !== ALL_PROPERTIES) needProperty(connector, ref, property);
    if (ref.recordId === EVERY_RECORD) return clearMany(context, ref, options);
    const what = property === ALL_PROPERTIES ? record : `${property} of ${record}`;
    return withStore(context, async (store): Promise<ExitCode> => {
      await needLink(store.db, ref);
      if (options.clear) {
        if (!(await store.write((tx) => clearOverride(tx, ref, 'hold', Date.now()))))
          throw new Error(`${what} is not on hold.${await describeOtherHolds(store, ref, 'What is')}`);
        const left = await describeOtherHolds(store, ref, 'Still on hold');
        context.output.result({ record, property, override: null }, `The hold on ${what} has ended.${left}`);
        return 0;
      }
      const override = {
        kind: 'hold',
        once: false,
        until: options.until ?? null,
        reason: options.reason ?? null,
      } as const;
      await store.write((tx) => setOverride(tx, ref, override, Date.now()));
      const end =
        override.until === null ? `until cvrsync hold ${record} … --clear` : `until ${shownTime(override.until)}`;
      context.output.result({ record, property, override }, `Nothing is written to ${what} ${end}.`);
      return 0;
    });
  },
});

interface HoldOptions {
  readonly clear: boolean;
  readonly all: boolean;
  readonly yes: boolean;
  readonly until: number | undefined;
  readonly reason: string | undefined;
  readonly olderThan: number | undefined;
}

function checkOptions({ provider, recordId }: RecordRef, options: HoldOptions): void {
  const { clear, all, until, reason, olderThan } = options;
  const isMany = recordId === EVERY_RECORD;
  if (isMany && !clear) throw new UsageError(`name one record to hold: ${provider}:* goes with --clear only`);
  if ((all || olderThan !== undefined) && !isMany)
    throw new UsageError(`--all and --older-than are for ${provider}:* with --clear`);
  if (clear && (until !== undefined || (reason !== undefined && !isMany)))
    throw new UsageError('--clear takes neither --until nor --reason');
  if (all && reason !== undefined) throw new UsageError('choose --all or --reason, not both');
  if (until !== undefined && until <= Date.now()) throw new UsageError(`--until ${shownTime(until)} is in the past`);
}

/** Ends all holds of a connection that match the options; by default, those of undo. */
function clearMany(
  context: CommandContext,
  { provider, property }: OverrideRef,
  { all, yes, reason, olderThan }: HoldOptions,
): Promise<ExitCode> {
  return withStore(context, async (store): Promise<ExitCode> => {
    const now = Date.now();
    const filter = {
      provider,
      property: property === ALL_PROPERTIES ? undefined : property,
      reason: all ? undefined : (reason ?? UNDONE),
      before: beforeOf(olderThan, now),
    };
    const whose = all ? '' : filter.reason === UNDONE ? ' that undo placed' : ` with the reason ${filter.reason}`;
    const holds = (count: number): string => `${count} ${count === 1 ? 'hold' : 'holds'}${whose}`;
    const count = await countHolds(store.db, now, filter);
    const question = `End ${holds(count)} in ${provider}? The register's values are written there again.`;
    if (count > 0 && !(await confirmMany(context, yes, question, 'see them first with cvrsync hold list'))) return 0;
    const cleared = await endHoldsIn(store, filter, now, context.signal);
    context.output.result(
      { record: `${provider}:*`, property, cleared },
      `${holds(cleared)} ${cleared === 1 ? 'has' : 'have'} ended.`,
    );
    return 0;
  });
}

/** Names the record's other holds, which the person may have meant. */
async function describeOtherHolds({ db }: Store, { provider, recordId }: RecordRef, lead: string): Promise<string> {
  const overrides = (await readOverrides(db, provider, [recordId], Date.now())).get(recordId);
  const held = [...(overrides ?? [])].filter(([, { kind }]) => kind === 'hold').map(([property]) => property);
  return held.length === 0
    ? ''
    : ` ${lead}: ${held.join(', ')}${held.includes(ALL_PROPERTIES) ? ' (* stands for the whole record)' : ''}.`;
}
