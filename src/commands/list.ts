/** Every command: one line each. A command's file is loaded when it is used. */
import type { Command } from './command.ts';

export interface CommandEntry {
  readonly name: string;
  readonly about: string;
  readonly load: () => Promise<{ readonly command: Command }>;
}

export const COMMANDS: readonly CommandEntry[] = [
  { name: 'config', about: 'write, check and describe the configuration file', load: () => import('./config.ts') },
];
