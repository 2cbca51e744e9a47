/** Whether what a provider opens with can be worked with: asked once, before a verb is called. */
import { connectionMisfit, limitsMisfit, type Misfit, misfitText } from '../../../../providers/misfit.ts';
import type { Connection, Limits } from '../../../../providers/provider.ts';
import { described } from './described.ts';
import { ProviderBug } from './provider-bug.ts';

/** The limits as they are; throws if one of them is no number a batch or a pace can be made of. */
export const soundLimits = (name: string, limits: Limits): Limits => sound(name, limits, limitsMisfit);

/** Returns the connection unchanged; throws if a verb is missing or a part has the wrong type. */
export const soundConnection = (name: string, connection: Connection): Connection =>
  sound(name, connection, connectionMisfit);

function sound<T>(name: string, part: T, misfitIn: (part: unknown) => Misfit | undefined): T {
  const misfit = misfitIn(part);
  if (misfit === undefined) return part;
  const what = misfitText(misfit, described);
  throw new ProviderBug(`connector.providers.${name}: its provider gives ${what}; report it to its author`);
}
