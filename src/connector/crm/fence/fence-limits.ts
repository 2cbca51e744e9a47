/** Whether a provider's limits can be paced by. */
import { limitsMisfit, misfitText } from '../../../../providers/misfit.ts';
import type { Limits } from '../../../../providers/provider.ts';
import { described } from './described.ts';

/** The limits as they are; throws where one of them is no number a batch or a pace can be made of. */
export function soundLimits(name: string, limits: Limits): Limits {
  const misfit = limitsMisfit(limits);
  if (misfit === undefined) return limits;
  const what = misfitText(misfit, described);
  throw new Error(`connector.providers.${name}: its provider gives ${what}; report it to its author`);
}
