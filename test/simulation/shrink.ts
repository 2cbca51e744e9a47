/** Finds the shortest history that still fails: leaves out faults first, then events, half of what is left at a time. */
import { isCalm, isFault, type Step } from './plan.ts';

/** Whether a plan fails as the whole one did. */
export type Fails = (plan: readonly Step[]) => Promise<boolean>;

/** Tries until `isOver`; what it returns fails. */
export async function shrink(plan: readonly Step[], fails: Fails, isOver: () => boolean): Promise<readonly Step[]> {
  const last = plan.filter(isCalm).slice(0, -1);
  const withoutCalms = last.length > 0 ? await without(plan, last, fails) : plan;
  const fewerFaults = await withFewer(withoutCalms, isFault, fails, isOver);
  return withFewer(fewerFaults, (step) => !isCalm(step), fails, isOver);
}

/** A plan without some steps if it still fails, else the plan. */
async function without(plan: readonly Step[], left: readonly Step[], fails: Fails): Promise<readonly Step[]> {
  const tried = plan.filter((step) => !left.includes(step));
  return (await fails(tried)) ? tried : plan;
}

async function withFewer(
  whole: readonly Step[],
  isOfKind: (step: Step) => boolean,
  fails: Fails,
  isOver: () => boolean,
): Promise<readonly Step[]> {
  let plan = whole;
  for (let size = plan.filter(isOfKind).length; size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    const steps = plan.filter(isOfKind);
    for (let at = 0; at < steps.length && !isOver(); at += size)
      plan = await without(plan, steps.slice(at, at + size), fails);
  }
  return plan;
}
