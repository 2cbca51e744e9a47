/** Checks once, before the first call, that a provider's limits and connection have the right types. */
import { connectionMisfit, limitsMisfit, type Misfit, misfitText } from '../../../../providers/misfit.ts';
import type { Connection, Limits } from '../../../../providers/provider.ts';
import { described } from './described.ts';
import { ProviderBug } from './provider-bug.ts';

export const soundLimits = (name: string, limits: Limits): Limits => sound(name, limits, limitsMisfit);

export const soundConnection = (name: string, connection: Connection): Connection =>
  sound(name, connection, connectionMisfit);

function sound<T>(name: string, part: T, misfitIn: (part: unknown) => Misfit | undefined): T {
  const misfit = misfitIn(part);
  if (misfit === undefined) return part;
  const what = misfitText(misfit, described);
  throw new ProviderBug(`connector.providers.${name}: its provider gives ${what}; report it to its author`);
}
