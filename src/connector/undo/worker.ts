/** Runs undoes that a person asked for on a page: in the daemon, paced like all else, and taken up again after a restart. */
import { errorText } from '../../protocol/text/error-text.ts';
import { type Claim, settle } from '../../runtime/lanes/lanes.ts';
import type { Crm } from '../crm/crm.ts';
import { undo } from './run.ts';
import { beginUndo, endUndo, type StoredUndo, storeResults } from './runs.ts';
import type { UndoDeps } from './undo.ts';

/** Runs the undoes that the claims name, one after the other. */
export async function runUndoes(
  deps: UndoDeps,
  crms: readonly Crm[],
  claims: readonly Claim[],
  signal: AbortSignal,
): Promise<void> {
  const { store, now } = deps;
  for (const claim of claims) {
    const stored = await store.write((tx) => beginUndo(tx, Number(claim.key)));
    const error = stored && (await runOne(deps, crms, stored, signal));
    await store.write(async (tx) => {
      if (!(await settle(tx, claim, { kind: 'done' }))) return;
      if (stored !== undefined) await endUndo(tx, stored, error ?? null, now());
    });
  }
}

/** Why it failed; undefined where it ran to its end, or was cancelled. Throws where the daemon stops. */
async function runOne(
  deps: UndoDeps,
  crms: readonly Crm[],
  { id, selection, stage }: StoredUndo,
  signal: AbortSignal,
): Promise<string | undefined> {
  const cancelled = new AbortController();
  try {
    await undo(
      {
        ...deps,
        crm: async (name) => crms.find((crm) => crm.name === name),
        dryRun: stage === 'preview',
        async report(done, progress) {
          if (!(await deps.store.write((tx) => storeResults(tx, id, done, progress)))) cancelled.abort();
        },
      },
      selection,
      AbortSignal.any([signal, cancelled.signal]),
    );
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    return cancelled.signal.aborted ? undefined : errorText(error);
  }
}
