import { refuseFile, wasCut, writePlan } from '../../connector/backfill/plan/write-plan.ts';
import { type BackfillDeps, BackfillError } from '../../connector/backfill/rows/backfill-context.ts';
import { readRun } from '../../connector/backfill/rows/progress.ts';
import { columnsOf } from '../../connector/backfill/scan.ts';
import { type ApplyAsked, apply, applyFile, type BackfillSteps, type Ended, isBegun, scan } from './steps.ts';

/** `look` only scans, `plan` also writes a file, `apply` links what the scan finds, `file` links what a plan says. */
export type Mode = { readonly kind: 'look' | 'apply' } | { readonly kind: 'plan' | 'file'; readonly file: string };

export interface ModeOptions extends Omit<ApplyAsked, 'decidesAgain' | 'writesNumber'> {
  readonly mode: Mode;
  readonly restart: boolean;
  /** A person confirmed the plan file in spite of its warnings. */
  readonly meant: boolean;
}

interface ModeDeps {
  readonly deps: BackfillDeps;
  readonly steps: BackfillSteps;
}

/** Runs or continues the steps of a mode. Throws the signal's reason if it is stopped. */
export async function runMode({ deps, steps }: ModeDeps, options: ModeOptions): Promise<Ended> {
  const { mode, restart, meant, mayLink, ...chosen } = options;
  if (restart && mode.kind === 'file')
    throw new BackfillError('--restart forgets the scan that --apply stands on: use one of them');
  if (mode.kind === 'plan') refuseFile(mode.file);
  // Fails now, not in the run: the person who started it must see errors in the connection.
  await columnsOf(deps, steps.signal);
  if (mode.kind === 'file') return applyFile(steps, mode.file, { ...chosen, meant });
  if (restart || !(await mayGoOn({ deps, steps }, mode))) await scanFor(steps, options);
  if (mode.kind === 'plan') {
    const run = await readRun(deps.store.db, deps.crm.name);
    if (run !== undefined) await writePlan(deps, run, mode.file, steps.signal);
  }
  return mode.kind === 'apply' ? apply(steps, { ...chosen, decidesAgain: true, mayLink }) : 'planned';
}

/** Whether the stored plan is that of this mode, so that it needs no scan. */
async function mayGoOn({ deps, steps }: ModeDeps, mode: Mode): Promise<boolean> {
  if (mode.kind === 'plan') return wasCut(deps, mode.file);
  return mode.kind === 'apply' && isBegun(steps);
}

/** The options of a look do not apply to a later plan. Missing options leave an open scan unchanged. */
function scanFor(steps: BackfillSteps, { mode, restart, trust, sendUpdate }: ModeOptions): Promise<void> {
  const chosen = mode.kind === 'look' ? NOTHING_CHOSEN : { trust, ...(sendUpdate && { sendUpdate }) };
  return scan(steps, { kind: 'scan', restart, ...chosen });
}

const NOTHING_CHOSEN = { trust: 'crm', sendUpdate: false } as const;
