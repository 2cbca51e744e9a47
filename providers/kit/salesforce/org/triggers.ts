/** A customer's Apex triggers: an error that one does not catch refuses all records of its call. */
import type { PropertyValue } from '../../../provider.ts';
import { type RecordError, recordError } from './refusal.ts';

/** One record of a call, with the values that it would have, by field. */
export interface TriggeredRecord {
  /** Undefined if the call would create the record. */
  readonly id: string | undefined;
  readonly values: Readonly<Record<string, PropertyValue>>;
}

/** `queries` breaks its limit in calls of more than `over` records; `throws` and `locks` need a match. */
export type Trigger =
  | { readonly kind: 'queries'; readonly over: number }
  | { readonly kind: 'throws'; readonly on: (record: TriggeredRecord) => boolean }
  /** Another transaction holds a row that the trigger writes, for this many calls. */
  | { readonly kind: 'locks'; readonly on: (record: TriggeredRecord) => boolean; readonly times: number };

export interface Triggers {
  add(trigger: Trigger): () => void;
  /** Runs all triggers on the records of one call; returns the error that every record gets. */
  run(records: readonly TriggeredRecord[]): RecordError | undefined;
}

export function openTriggers(options: readonly Trigger[]): Triggers {
  const triggers = new Map(options.map((trigger) => [trigger, trigger.kind === 'locks' ? trigger.times : 0]));
  const thrown = (trigger: Trigger, left: number, records: readonly TriggeredRecord[]): string | undefined => {
    if (trigger.kind === 'queries')
      return records.length > trigger.over ? 'System.LimitException: Too many SOQL queries: 101' : undefined;
    const record = records.find(trigger.on);
    if (record === undefined) return undefined;
    if (trigger.kind === 'throws') return caused('System.NullPointerException: Attempt to de-reference a null object');
    if (left === 0) return undefined;
    triggers.set(trigger, left - 1);
    const locked = 'unable to obtain exclusive access to this record or 1 records: 003Qy00000Lock1IAB';
    return caused(
      `System.DmlException: Update failed. First exception on row 0 with id 003Qy00000Lock1IAB; first error: UNABLE_TO_LOCK_ROW, ${locked}: []`,
    );
  };
  return {
    add(trigger) {
      triggers.set(trigger, trigger.kind === 'locks' ? trigger.times : 0);
      return () => void triggers.delete(trigger);
    },
    run(records) {
      for (const [trigger, left] of triggers) {
        const message = thrown(trigger, left, records);
        if (message !== undefined)
          return recordError('CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY', `AccountTrigger: ${message}`);
      }
      return undefined;
    },
  };
}

const caused = (error: string): string =>
  `execution of AfterUpdate\n\ncaused by: ${error}\n\nTrigger.AccountTrigger: line 12, column 1`;
