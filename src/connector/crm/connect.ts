/** Opens a provider's connection: in time, with all that the runtime calls, and with a reason if it cannot be opened. */
import type { Connection, Limits, Provider, ProviderContext } from '../../../providers/provider.ts';
import { errorText, plainError } from '../../protocol/text/error-text.ts';
import { storeErrorIn } from '../../store/store-error.ts';
import { providerErrorIn } from './answer-check/bound-call.ts';
import { soundConnection, soundLimits } from './answer-check/check-opening.ts';
import { maskerFor } from './answer-check/check-values.ts';
import { ProviderBug } from './answer-check/provider-bug.ts';

/** The part of a connection's configuration that its provider is given. */
export interface ToConnect {
  readonly name: string;
  readonly provider: Pick<Provider, 'limits' | 'connect'>;
  readonly settings: Readonly<Record<string, unknown>>;
  /** Hides the secrets of the settings in a text. */
  readonly mask?: ((text: string) => string) | undefined;
}

const CONNECT_MS = 60_000;

/** The limits that a provider states for its settings; throws if no pace can be made of them. */
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

/** A plugin may wait in `connect`, which should make no call: the daemon must not wait with it. */
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
