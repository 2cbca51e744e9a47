/** `hold`: stops writes to a property, or to a whole record. */

import type { RecordRef } from '../connector/names/queues.ts';
import type { Hold } from '../connector/overrides/hold-list.ts';
import { ALL_PROPERTIES, HOLD_ORIGINS, readOverrides } from '../connector/overrides/override.ts';
import { endHolds, holdPlaceText, listHolds } from '../operations/connector/holds.ts';
import { clearRecord, holdRecord } from '../operations/connector/records.ts';
import type { Store } from '../store/store.ts';
import { EVERY_RECORD, linksHint, needConnector, readRecord } from './arguments/record-argument.ts';
import { duration, end } from './arguments/time.ts';
import { needProvider } from './arguments/with-monitoring.ts';
import { withStore } from './arguments/with-store.ts';
import {
  defineCommand,
  type ExitCode,
  flag,
  needed,
  oneOf,
  optional,
  positive,
  text,
  UsageError,
} from './cli/command.ts';
import { confirmMany } from './cli/confirm.ts';
import type { CommandContext } from './cli/context.ts';
import { countOf } from './cli/count-of.ts';
import { shownTime, timeCell } from './cli/when.ts';
import { performHere, previewHere } from './operations/operation-command.ts';

const SHOWN = 1_000;
const PAGE = 1_000;

const filterOptions = {
  origin: oneOf(HOLD_ORIGINS, 'only what people placed, what answers in review did, or what undo did'),
  reason: text('only holds with this reason'),
  olderThan: duration('only holds that are older than this: 12h, 30d'),
};

const list = defineCommand({
  name: 'list',
  examples: ['hold list --provider hubspot --older-than 90d', 'hold list --origin undo --ending-within 7d'],
  operation: listHolds.name,
  about: listHolds.about,
  options: {
    ...filterOptions,
    endingWithin: duration('only holds that end within this time: 7d'),
    provider: text('only holds in this CRM', 'name'),
    property: text('only holds on this property; * means holds on whole records', 'name'),
    limit: positive(`show at most this many (default ${SHOWN})`),
  },
  run: async (context, _args, { olderThan, endingWithin, limit = SHOWN, ...asked }) => {
    const { providers } = await needConnector(context);
    return withStore<ExitCode>(context, async (store) => {
      const now = Date.now();
      const endsBefore = endingWithin === undefined ? undefined : timeIn(now + endingWithin);
      const filter = { ...asked, before: timeIn(beforeOf(olderThan, now)), endsBefore };
      const holds: Hold[] = [];
      let after: string | undefined;
      do {
        const page = await performHere(
          listHolds,
          { ...filter, after, limit: Math.min(limit - holds.length, PAGE) },
          { store, now: () => now },
        );
        holds.push(...page.holds);
        after = page.next && holdPlaceText(page.next);
      } while (after !== undefined && holds.length < limit);
      // A connection that left the configuration may still have holds.
      if (holds.length === 0 && asked.provider !== undefined) needProvider({ providers }, asked.provider);
      context.output.table(holds.map(rowOf), 'No hold matches.');
      if (after !== undefined)
        context.log.warn({ shown: holds.length }, 'there are more holds: raise --limit, or narrow the list');
      return 0;
    });
  },
});

const rowOf = ({ provider, recordId, property, entity, since, until, reason, ...placed }: Hold) => ({
  record: `${provider}:${recordId}`,
  property,
  entity: entity ?? '',
  since: timeCell(since),
  until: until === null ? 'cleared' : timeCell(until),
  origin: placed.origin,
  by: placed.placedBy ?? '',
  via: placed.placedVia ?? '',
  reason: reason ?? '',
});

const beforeOf = (olderThan: number | undefined, now: number): number | undefined =>
  olderThan === undefined ? undefined : now - olderThan;

export const command = defineCommand({
  name: 'hold',
  examples: ['hold hubspot:1234567890 name --until 2027-01-31', 'hold "hubspot:*" --clear --older-than 90d'],
  operation: [holdRecord.name, clearRecord.name, endHolds.name],
  about: holdRecord.about,
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
  run: async (context, { record, property }, options) => {
    const connector = await needConnector(context);
    const ref = readRecord(record, connector);
    const { provider, recordId } = ref;
    checkOptions(ref, options);
    if (recordId === EVERY_RECORD) return clearMany(context, { provider, property }, options);
    const { clear, until = null, reason = null } = options;
    const what = property === undefined ? record : `${property} of ${record}`;
    const input = { provider, record: recordId, property };
    return withStore(context, async (store): Promise<ExitCode> => {
      const ground = { store, now: Date.now, crms: connector.providers };
      if (clear) {
        await performHere(clearRecord, { ...input, kind: 'hold' }, ground, linksHint(provider)).catch(
          async (error: unknown) => {
            if (!(error instanceof Error) || !error.message.endsWith('is not on hold')) throw error;
            throw new Error(`${error.message}.${await describeOtherHolds(store, ref, 'What is')}`);
          },
        );
        const left = await describeOtherHolds(store, ref, 'Still on hold');
        context.output.result({ record, property, override: null }, `The hold on ${what} has ended.${left}`);
        return 0;
      }
      const held = { ...input, until: timeIn(until ?? undefined), reason: reason ?? undefined };
      const { property: on } = await performHere(holdRecord, held, ground, linksHint(provider));
      const end = until === null ? `until cvrsync hold ${record} … --clear` : `until ${shownTime(until)}`;
      const override = { kind: 'hold', once: false, until, reason };
      context.output.result({ record, property: on, override }, `Nothing is written to ${what} ${end}.`);
      return 0;
    });
  },
});

const timeIn = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString();

interface HoldOptions {
  readonly clear: boolean;
  readonly all: boolean;
  readonly yes: boolean;
  readonly until: number | undefined;
  readonly origin: (typeof HOLD_ORIGINS)[number] | undefined;
  readonly reason: string | undefined;
  readonly olderThan: number | undefined;
}

function checkOptions({ provider, recordId }: RecordRef, options: HoldOptions): void {
  const { clear, all, until, origin, reason, olderThan } = options;
  const isMany = recordId === EVERY_RECORD;
  if (isMany && !clear) throw new UsageError(`name one record to hold: ${provider}:* goes with --clear only`);
  if ((all || origin !== undefined || olderThan !== undefined) && !isMany)
    throw new UsageError(`--all, --origin and --older-than are for ${provider}:* with --clear`);
  if (clear && (until !== undefined || (reason !== undefined && !isMany)))
    throw new UsageError('--clear takes neither --until nor --reason');
  if (all && (reason !== undefined || origin !== undefined))
    throw new UsageError('choose --all, or --reason or --origin, not both');
  if (until !== undefined && until <= Date.now()) throw new UsageError(`--until ${shownTime(until)} is in the past`);
}

const PLACED = {
  person: ' that people placed',
  review: ' that answers in review placed',
  undo: ' that undo placed',
} as const;

/** Ends all holds of a connection that match the options; by default, those of undo. */
function clearMany(
  context: CommandContext,
  { provider, property }: { readonly provider: string; readonly property: string | undefined },
  { all, yes, reason, origin: named, olderThan }: HoldOptions,
): Promise<ExitCode> {
  return withStore(context, async (store): Promise<ExitCode> => {
    const before = beforeOf(olderThan, Date.now());
    const origin = named ?? (all || reason !== undefined ? undefined : 'undo');
    const filter = { provider, property, origin, reason, before: timeIn(before) };
    const ground = { store, now: Date.now, signal: context.signal };
    const whose = `${origin === undefined ? '' : PLACED[origin]}${reason === undefined ? '' : ` with the reason ${reason}`}`;
    const holds = (count: number): string => `${countOf(count, 'hold')}${whose}`;
    const { count } = await previewHere(endHolds, filter, ground);
    const question = `End ${holds(count)} in ${provider}? The register's values are written there again.`;
    if (count > 0 && !(await confirmMany(context, yes, question, 'see them first with cvrsync hold list'))) return 0;
    const { count: cleared } = await performHere(endHolds, filter, ground);
    context.output.result(
      { record: `${provider}:*`, property: property ?? ALL_PROPERTIES, cleared },
      `${holds(cleared)} ${cleared === 1 ? 'has' : 'have'} ended.`,
    );
    return 0;
  });
}

/** Names the record's other holds, because the person may have meant one of them. */
async function describeOtherHolds({ db }: Store, { provider, recordId }: RecordRef, lead: string): Promise<string> {
  const overrides = (await readOverrides(db, provider, [recordId], Date.now())).get(recordId);
  const held = [...(overrides ?? [])].filter(([, { kind }]) => kind === 'hold').map(([property]) => property);
  return held.length === 0
    ? ''
    : ` ${lead}: ${held.join(', ')}${held.includes(ALL_PROPERTIES) ? ' (* stands for the whole record)' : ''}.`;
}
