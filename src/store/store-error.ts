import { findCause } from '../protocol/text/error-text.ts';

/** The store could not be reached or did not answer in time. */
export class StoreError extends Error {
  override readonly name = 'StoreError';

  constructor(what: string, cause: unknown) {
    super(`the store ${what}`, { cause });
  }
}

/** The store's failure in an error or its causes, if any. */
export const storeErrorIn = (error: unknown): StoreError | undefined => findCause(error, StoreError);
