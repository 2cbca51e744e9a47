/** Errors that nothing catches: from a timer, an emitter, or a rejection that nothing handles. */
import { plainError } from '../protocol/text/error-text.ts';

/** A stray error: the state of the process is unknown after it, so the process ends. Takes any thrown value. */
export class StrayError extends Error {
  override readonly name = 'StrayError';

  constructor(thrown: unknown) {
    const { message, stack, cause } = plainError(thrown);
    super(message, cause === undefined ? undefined : { cause });
    if (stack !== undefined) this.stack = stack;
  }
}
