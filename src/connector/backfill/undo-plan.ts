/** Takes back what a plan of a match linked: each link, and the values that cvrsync wrote into its record since. */

import { readRecordId } from '../crm/record-id.ts';
import { findLink, type Link } from '../links/links.ts';
import { takeBackMatch } from '../match/answer.ts';
import { TAKEN_BACK } from '../match/undecided.ts';
import type { RecordRef } from '../names/queues.ts';
import type { Undone } from '../undo/outcome.ts';
import { undo } from '../undo/undo-run.ts';
import { readPlan } from './plan/read-plan.ts';
import type { BackfillDeps } from './rows/backfill-context.ts';

/** What became of a plan's links. */
export interface PlanUndone {
  /** Records whose link ended. */
  readonly unlinked: number;
  /** Lines whose record has another link by now, or had none of this plan. */
  readonly left: number;
  readonly properties: readonly Undone[];
}

/** Takes back the lines of the file that say `link`. Run it again after an end of any kind: what is done is not done twice. */
export async function undoPlan(
  deps: Pick<BackfillDeps, 'store' | 'crm' | 'now' | 'metrics' | 'leaseMs'>,
  file: string,
  signal: AbortSignal,
): Promise<PlanUndone> {
  const { store, crm, now } = deps;
  const properties: Undone[] = [];
  let [unlinked, left] = [0, 0];
  const run = {
    ...deps,
    crm: async () => crm,
    dryRun: false,
    report: (done: readonly Undone[]): void => void properties.push(...done),
  };
  for await (const line of readPlan(file, (text) => readRecordId(crm, text))) {
    if ('problem' in line || line.action !== 'link' || line.entity === undefined) continue;
    signal.throwIfAborted();
    const { entity, recordId } = line;
    const ref = { provider: crm.name, recordId };
    const before = await findLink(store.db, ref);
    const isEnded = isOf(before, entity) && before?.state === 'removed' && before.reason === TAKEN_BACK;
    const ends = !isEnded && (await endAccepted(deps, ref, entity, now()));
    if (ends) unlinked += 1;
    // An undo that was stopped ended the link, and may not have restored the values.
    if (ends || isEnded) await undo(run, { provider: crm.name, record: recordId, entity }, signal);
    else left += 1;
  }
  return { unlinked, left, properties };
}

const isOf = (link: Link | undefined, entity: string): boolean => link?.entity === entity && link.writes_number === 1;

/** Ends the link, unless it is none that a match made. */
const endAccepted = (
  { store }: Pick<BackfillDeps, 'store'>,
  ref: RecordRef,
  entity: string,
  now: number,
): Promise<boolean> =>
  store.write(
    async (tx) =>
      isOf(await findLink(tx, ref), entity) && takeBackMatch(tx, ref, { linked: entity, rejected: [] }, now),
  );
