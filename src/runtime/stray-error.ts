/** What was thrown where nothing waits for it: in a timer, by an emitter, or as a rejection that nobody took. */
import { cutText } from '../protocol/text/cut.ts';
import { errorText, stackText } from '../protocol/text/error-text.ts';

const MOST_MESSAGE = 1_000;
const MOST_STACK = 8_000;

/** A stray error: from here on nobody knows the state of the process, so that it ends. Made of whatever was thrown. */
export class StrayError extends Error {
  override readonly name = 'StrayError';

  constructor(thrown: unknown) {
    super(cutText(errorText(thrown), MOST_MESSAGE));
    this.stack = cutText(stackText(thrown) ?? this.message, MOST_STACK);
  }
}
