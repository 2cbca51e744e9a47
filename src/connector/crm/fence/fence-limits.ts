/** Whether a provider's limits can be paced by. */
import type { Limits } from '../../../../providers/provider.ts';

const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 1;

/** The limits as they are; throws where one of them is no number a batch or a pace can be made of. */
export function soundLimits(name: string, limits: Limits): Limits {
  const { batch, concurrency, budgets } = limits;
  const complain = (what: string): never => {
    throw new Error(`connector.providers.${name}: its provider gives ${what}; report it to its author`);
  };
  if (!isCount(batch?.read) || !isCount(batch?.update)) complain('no whole numbers from 1 as limits.batch');
  if (!isCount(concurrency)) complain('no whole number from 1 as limits.concurrency');
  if (budgets?.default === undefined) complain('no limits.budgets.default');
  for (const [budget, { calls, perMs }] of Object.entries(budgets))
    if (!(calls > 0) || !(perMs > 0)) complain(`the budget ${budget} no calls or no length`);
  return limits;
}
