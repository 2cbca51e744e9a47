/** Events dated so far in the future that their fields would freeze: no true event could follow. Pure. */
import { EVENT_NAMES, type EventName } from '../../protocol/events.ts';
import type { Payload } from '../../protocol/payload.ts';
import { type Assertion, isMembers } from '../facts/assertion.ts';
import { extract, fieldUpdates } from '../facts/extract.ts';
import { beginOf } from '../facts/extract-period.ts';

/** Tolerance for a sender's clock or time zone. */
const TOLERANCE_MS = 24 * 3_600_000;

export interface Dated {
  /** The part to fold; undefined if the whole payload is ahead. */
  readonly payload: Payload | undefined;
  readonly assertions: readonly Assertion[];
  readonly quarantined: string | undefined;
}

/** Separates what is ahead of our clock: the payload by its own time, then events by their periods. */
export function datedBy(payload: Payload, now: number): Dated {
  const isAhead = (time: number | undefined): boolean => time !== undefined && time > now + TOLERANCE_MS;
  const clock = `more than 24 hours ahead of our clock, ${new Date(now).toISOString()}`;
  if (isAhead(Date.parse(payload.timestamp)))
    return { payload: undefined, assertions: [], quarantined: `dated ${payload.timestamp}, ${clock}` };
  const periods = EVENT_NAMES.flatMap((event) => {
    const period = periodsOf(event, payload).find((each) => isAhead(beginOf(each)));
    return period === undefined ? [] : [[event, period] as const];
  });
  if (periods.length === 0) return { payload, assertions: extract(payload), quarantined: undefined };
  const ahead = new Map<string, string>(periods);
  const updates = Object.fromEntries(Object.entries(payload.updates).filter(([event]) => !ahead.has(event)));
  const left = { ...payload, updates };
  const eventsAhead = [...ahead].map(([event, period]) => `${event} of ${period}`).join(', ');
  return { payload: left, assertions: extract(left), quarantined: `${eventsAhead}: ${clock}` };
}

const periodsOf = (event: EventName, payload: Payload): readonly string[] =>
  fieldUpdates(event, payload).flatMap((assertion) =>
    isMembers(assertion) || assertion.period === undefined ? [] : [assertion.period],
  );
