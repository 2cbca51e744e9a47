/** The message of whatever was thrown, which need not be an error. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** How many causes are told; a chain may be a circle. */
const MOST_CAUSES = 5;

/** The messages of an error's causes, outermost first, without those that the error or an earlier cause has said. */
export function causesOf(error: unknown): readonly string[] {
  const told = [errorText(error)];
  let cause = error instanceof Error ? error.cause : undefined;
  for (let depth = 0; cause !== undefined && depth < MOST_CAUSES; depth += 1) {
    const reason = errorText(cause);
    if (!told.some((text) => text.includes(reason))) told.push(reason);
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return told.slice(1);
}

/** The message with those of its causes, on one line. */
export const fullErrorText = (error: unknown): string => [errorText(error), ...causesOf(error)].join(': ');
