import type { Resolved } from '../../connector/review/resolve.ts';
import type { ReviewVerb } from '../../connector/review/review-kinds.ts';
import { ANSWERS, CHANGED } from '../../operations/connector/review.ts';
import { attempt, perform, Refused } from '../../operations/definition/operation.ts';
import type { Store } from '../../store/store.ts';
import { commandActor } from '../arguments/actor.ts';

export interface Result {
  readonly id: string;
  readonly result: Resolved | { readonly kind: 'changed' };
}

/** Each answer is an operation with its own entry in the audit. */
export async function answerNamed(store: Store, verb: ReviewVerb, ids: readonly string[]): Promise<readonly Result[]> {
  const by = { actor: commandActor(), via: 'command' } as const;
  const results: Result[] = [];
  for (const id of ids) {
    const answered = await attempt(() => perform(ANSWERS[verb], { id }, { store, now: Date.now }, by));
    results.push({
      id,
      result: answered instanceof Refused ? resultOf(answered) : { kind: 'done', note: answered.note },
    });
  }
  return results;
}

function resultOf({ kind, code, message, issues }: Refused): Result['result'] {
  if (kind === 'unknown' || issues.length > 0) return { kind: 'unknown' };
  return code === CHANGED ? { kind: 'changed' } : { kind: 'impossible', reason: message };
}

export const resultText = ({ result }: Result): string => {
  if (result.kind === 'done') return result.note;
  if (result.kind === 'changed') return 'not done: it changed since it was listed';
  return result.kind === 'impossible' ? result.reason : 'not there (any more): see `cvrsync review list`';
};
