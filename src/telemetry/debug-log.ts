/** The levels of a log that show what becomes of each event. */
export interface DebugLog {
  readonly isLevelEnabled?: (level: 'debug' | 'trace') => boolean;
  readonly debug?: (details: object, message: string) => void;
  readonly trace?: (details: object, message: string) => void;
}

/** Whether the log shows a level: what a line costs is spent only then. */
export const shows = (log: DebugLog | undefined, level: 'debug' | 'trace'): boolean =>
  log?.isLevelEnabled?.(level) === true;
