/** The message of whatever was thrown, which need not be an error. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));
