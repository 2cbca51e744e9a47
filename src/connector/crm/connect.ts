/** Opens a provider's connection within a time limit, and says why it cannot be opened. */
import type { Connection, Limits, Provider, ProviderContext } from '../../../providers/provider.ts';
import { errorText, plainError } from '../../protocol/text/error-text.ts';
import { storeErrorIn } from '../../store/store-error.ts';
import { providerErrorIn } from './answer-check/bound-call.ts';
import { soundConnection, soundLimits } from './answer-check/check-opening.ts';
import { maskerFor } from './answer-check/check-values.ts';
import { ProviderBug } from './answer-check/provider-bug.ts';

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
  return soundLimits(name, limits);
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
    return soundConnection(name, await Promise.race([opening, late.promise]));
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
