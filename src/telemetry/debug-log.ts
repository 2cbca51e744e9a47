/** A log that can show each event at its levels `debug` and `trace`. */
export interface DebugLog {
  readonly isLevelEnabled?: (level: 'debug' | 'trace') => boolean;
  readonly debug?: (details: object, message: string) => void;
  readonly trace?: (details: object, message: string) => void;
}

/** Lets a caller skip the cost of a line that the log does not show. */
export const shows = (log: DebugLog | undefined, level: 'debug' | 'trace'): boolean =>
  log?.isLevelEnabled?.(level) === true;
