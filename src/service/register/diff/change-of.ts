import { hash } from 'node:crypto';
import type { Updates } from '../../../protocol/payload.ts';
import { normaliseTime } from '../../../protocol/text/time.ts';
import type { Change } from '../../changes/change.ts';
import { later } from '../document/validity.ts';

export interface StateStep {
  readonly before?: { readonly loadedAt: string; readonly readOn: string } | undefined;
  readonly after: { readonly loadedAt: string; readonly registeredAt: string | null };
}

const timeOf = (text: string | null): string | undefined => (text === null ? undefined : normaliseTime(text));

/**
 * The newest of some register times, ISO 8601 UTC; else the document's own time, then its loading time, which is the
 * latest possible. Always between the previous reading of the document and this one: a removed entry, or one written
 * long before its day, has a time before the change. A receiver that orders changes by time would think it older than
 * the value that it ends; it would think a future time newer than all later changes.
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

// Values are always made in the same order, so equal values have equal JSON.
const idOf = (...parts: readonly unknown[]): string => hash('sha256', JSON.stringify(parts), 'base64url');

/**
 * A change of the register. Its id depends on the difference and its origin: the same change found again after a crash
 * has the same id, and a value that goes back and forth has a new id each time.
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

/** A change that happens only once, whichever document shows it; `key` identifies it. */
export const onceOnly = (change: Change, ...key: readonly string[]): Change => ({
  ...change,
  id: idOf('once', ...key),
});

export const isEmpty = (updates: Updates): boolean => Object.keys(updates).length === 0;
