import { LOG_LEVELS } from '../../config/schema/log-level.ts';

export interface GlobalOption {
  readonly flag: string;
  /** Undefined for a flag. */
  readonly value?: string;
  readonly about: string;
  readonly choices?: readonly string[];
}

export const GLOBAL_OPTIONS: readonly GlobalOption[] = [
  { flag: '--config', value: 'file', about: 'configuration file (else CVRSYNC_CONFIG, else ./cvrsync.yaml)' },
  { flag: '--json', about: 'machine-readable output: one JSON document, or one per line for streams' },
  {
    flag: '--log-level',
    value: 'level',
    about: `log to stderr from this level on (default: logLevel of the configuration, else info): ${LOG_LEVELS.join(', ')}`,
    choices: LOG_LEVELS,
  },
];
