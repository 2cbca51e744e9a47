/** A bug of a provider: no setting repairs it, and its author must know. */
import { findCause } from '../../../protocol/text/error-text.ts';

export class ProviderBug extends Error {
  override readonly name = 'ProviderBug';
}

/** Also true for a fault of the connection that a bug caused. */
export const isProviderBug = (error: unknown): boolean => findCause(error, ProviderBug) !== undefined;
