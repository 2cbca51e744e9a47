/** Makes changes of what was found: their time, their natural id. */
import { hash } from 'node:crypto';
import type { Updates } from '../../../protocol/payload.ts';
import { normaliseTime } from '../../../protocol/text/time.ts';
import type { Change } from '../../changes/change.ts';
import { later } from '../document/validity.ts';

/** What a change was found between: a stored snapshot, if any, and the one just read. */
export interface StateStep {
  readonly before?: { readonly loadedAt: string; readonly readOn: string } | undefined;
  readonly after: { readonly loadedAt: string; readonly registeredAt: string | null };
}

const timeOf = (text: string | null): string | undefined => (text === null ? undefined : normaliseTime(text));

/**
 * The newest of some register times, ISO 8601 UTC; where none can be read the document's own, then its loading, which none
 * is later than.
 *
 * It lies between the last look at the document and this one, whatever the entries say: one that was taken out, or was
 * written long before its day came, bears a time at which the change was not there yet. Who orders changes by their
 * time would take it for older than what it ends, or one from the future for newer than all that follow.
 */
const timestampOf = (at: readonly (string | null)[], { before, after }: StateStep): string => {
  const registered = timeOf(after.registeredAt);
  const times = [timeOf(at.reduce(later, null)), registered].filter(
    (time) => time !== undefined && time <= after.loadedAt,
  );
  if (before === undefined || after.loadedAt === before.loadedAt) return times[0] ?? after.loadedAt;
  const known = times.find((time) => time !== undefined && time > before.loadedAt);
  return known ?? (after.loadedAt > before.loadedAt ? after.loadedAt : before.loadedAt);
};

// The same values are always made in the same order: their JSON is one text.
const idOf = (...parts: readonly unknown[]): string => hash('sha256', JSON.stringify(parts), 'base64url');

/**
 * A change of the register. Its id is made of what was found and where from: found again after a crash it is the same,
 * while a value that goes back and forth gives a new one each time.
 */
export const changeOf = (
  found: Pick<Change, 'entity' | 'name' | 'updates' | 'formerShares'> & { readonly at: readonly (string | null)[] },
  step: StateStep,
): Change => {
  const { entity, name, updates, formerShares, at } = found;
  const { before, after } = step;
  const from = before === undefined ? null : [before.loadedAt, before.readOn];
  return {
    id: idOf('register', entity, from, after.loadedAt, updates),
    entity,
    name,
    kind: 'register',
    timestamp: timestampOf(at, step),
    updates,
    ...(formerShares !== undefined && Object.keys(formerShares).length > 0 && { formerShares }),
  };
};

/** A change that happens once ever, whichever documents it is found in; `key` tells it from all others. */
export const onceOnly = (change: Change, ...key: readonly string[]): Change => ({
  ...change,
  id: idOf('once', ...key),
});

/** Whether anything is in there. */
export const isEmpty = (updates: Updates): boolean => Object.keys(updates).length === 0;
