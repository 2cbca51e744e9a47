/** A bug of a provider: no setting mends it, and its author must know. */
import { findCause } from '../../../protocol/text/error-text.ts';

export class ProviderBug extends Error {
  override readonly name = 'ProviderBug';
}

/** Whether an error is one, or a fault of the connection that came of one. */
export const isProviderBug = (error: unknown): boolean => findCause(error, ProviderBug) !== undefined;
