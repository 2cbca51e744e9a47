/** What was thrown where nothing waits for it: in a timer, by an emitter, or as a rejection that nobody took. */
import { plainError } from '../protocol/text/error-text.ts';

/** A stray error: from here on nobody knows the state of the process, so that it ends. Made of whatever was thrown. */
export class StrayError extends Error {
  override readonly name = 'StrayError';

  constructor(thrown: unknown) {
    const { message, stack, cause } = plainError(thrown);
    super(message, cause === undefined ? undefined : { cause });
    if (stack !== undefined) this.stack = stack;
  }
}
