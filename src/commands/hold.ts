/** `hold`: stops writes to a property, or to a whole record. */
import { endOfDay } from '../connector/decide/hold.ts';
import {
  ALL_PROPERTIES,
  clearHoldsOfUndo,
  clearOverride,
  readOverrides,
  setOverride,
} from '../connector/decide/override.ts';
import type { RecordRef } from '../connector/links/links.ts';
import { normaliseTime } from '../protocol/text/time.ts';
import type { Store } from '../store/open.ts';
import { EVERY_RECORD, needConnector, needLink, needProperty, readRecord } from './arguments/record-argument.ts';
import { shownTime, withStore } from './arguments/with-store.ts';
import {
  defineCommand,
  type ExitCode,
  flag,
  needed,
  type OptionSpec,
  optional,
  text,
  UsageError,
} from './cli/command.ts';

/** The last day of something, or the instant of its end; in ms since 1970. */
const until: OptionSpec<number | undefined> = {
  about: 'the last day of the hold, or the time of its end',
  value: 'date',
  read: (given) => {
    const instant = normaliseTime(given);
    if (instant === undefined)
      throw new UsageError(`${given} is not a date such as 2026-12-31, nor a time such as 2026-12-31T12:00:00Z`);
    return /^\d{4}-\d\d-\d\d$/u.test(given) ? endOfDay(given) : Date.parse(instant);
  },
};

export const command = defineCommand({
  name: 'hold',
  audit: 'record.hold',
  about: 'stop writes to one property of a record, or to the whole record, until you end the hold or until a date',
  args: {
    record: needed('the record, as hubspot:123; with --clear, hubspot:* ends all holds that undo placed'),
    property: optional('the property in the CRM (default: the whole record)'),
  },
  options: { until, reason: text('the reason, which `explain` shows'), clear: flag('end the hold') },
  run: async (context, { record, property = ALL_PROPERTIES }, options) => {
    const connector = await needConnector(context);
    const ref = { ...readRecord(record, connector), property };
    if (options.clear && (options.until !== undefined || options.reason !== undefined))
      throw new UsageError('--clear takes neither --until nor --reason');
    if (options.until !== undefined && options.until <= Date.now())
      throw new UsageError(`--until ${shownTime(options.until)} is in the past`);
    if (!options.clear && property !== ALL_PROPERTIES) needProperty(connector, ref, property);
    if (ref.recordId === EVERY_RECORD) {
      if (!options.clear) throw new UsageError(`name one record to hold: ${record} goes with --clear only`);
      return withStore(context, async (store): Promise<ExitCode> => {
        const only = property === ALL_PROPERTIES ? undefined : property;
        const cleared = await store.write((tx) => clearHoldsOfUndo(tx, ref.provider, only, Date.now()));
        context.output.result(
          { record, property, cleared },
          cleared === 1 ? '1 hold that undo placed has ended.' : `${cleared} holds that undo placed have ended.`,
        );
        return 0;
      });
    }
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

/** What else of the record is on hold: the person may have meant that. */
async function describeOtherHolds({ db }: Store, { provider, recordId }: RecordRef, lead: string): Promise<string> {
  const overrides = (await readOverrides(db, provider, [recordId], Date.now())).get(recordId);
  const held = [...(overrides ?? [])].filter(([, { kind }]) => kind === 'hold').map(([property]) => property);
  return held.length === 0
    ? ''
    : ` ${lead}: ${held.join(', ')}${held.includes(ALL_PROPERTIES) ? ' (* stands for the whole record)' : ''}.`;
}
