/** Opens a provider's connection within a time limit, and refuses one that lacks what the runtime calls. */
import { connectionMisfit, limitsMisfit } from '../../../providers/contract-schemas.ts';
import { type Misfit, misfitText } from '../../../providers/misfit.ts';
import type { Connection, Limits, Provider, ProviderContext } from '../../../providers/provider.ts';
import { errorText, plainError } from '../../protocol/text/error-text.ts';
import { storeErrorIn } from '../../store/store-error.ts';
import { providerErrorIn } from './answer-check/bound-call.ts';
import { ProviderBug } from './answer-check/provider-bug.ts';
import { maskerFor } from './answer-check/values.ts';

export interface ToConnect {
  readonly name: string;
  readonly provider: Pick<Provider, 'limits' | 'connect'>;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly mask?: ((text: string) => string) | undefined;
}

const CONNECT_MS = 60_000;

/** Throws if no rate limit can be made of the provider's limits. */
export function limitsOf({ name, provider, settings, mask }: ToConnect): Limits {
  let limits: Limits;
  try {
    limits = provider.limits(settings);
  } catch (error) {
    const reason = maskerFor(mask)(errorText(error));
    const what = `connector.providers.${name}: its limits failed, which is a bug of the provider: ${reason}`;
    throw new ProviderBug(what, { cause: plainError(error) });
  }
  return fitting(name, limits, limitsMisfit(limits));
}

/** `connect` should make no call; a plugin that waits in it must not make the daemon wait. */
export async function connectProvider(
  { name, provider, settings, mask }: ToConnect,
  context: ProviderContext,
): Promise<Connection> {
  const late = Promise.withResolvers<never>();
  const seconds = CONNECT_MS / 1_000;
  const timer = setTimeout(() => late.reject(new Error(`its connect did not end within ${seconds} s`)), CONNECT_MS);
  try {
    const opening = provider.connect(settings, context);
    const connection = await Promise.race([opening, late.promise]);
    return fitting(name, connection, connectionMisfit(connection));
  } catch (error) {
    if (error instanceof ProviderBug) throw error;
    const masked = maskerFor(mask);
    const known = storeErrorIn(error) ?? providerErrorIn(error, masked);
    if (known !== undefined) throw known;
    const what = `connector.providers.${name}: its provider could not connect: ${masked(errorText(error))}`;
    throw new Error(what, { cause: plainError(error) });
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the part unchanged; throws if it does not fit the contract. */
function fitting<T>(name: string, part: T, misfit: Misfit | undefined): T {
  if (misfit === undefined) return part;
  const what = misfitText(misfit);
  throw new ProviderBug(`connector.providers.${name}: its provider gives ${what}; report it to its author`);
}
