/** Every command: one line each. A command's file is loaded when it is used. */
import type { Command } from './command.ts';

export interface CommandEntry {
  readonly name: string;
  readonly about: string;
  readonly load: () => Promise<{ readonly command: Command }>;
}

export const COMMANDS: readonly CommandEntry[] = [
  { name: 'receive', about: 'feed a saved payload through the real code', load: () => import('./receive.ts') },
  { name: 'serve', about: 'run the daemon as configured', load: () => import('./serve.ts') },
  {
    name: 'demo',
    about: 'show the main job with nothing to set up: both CRMs emulated, no account and no network',
    load: () => import('./demo.ts'),
  },
  { name: 'config', about: 'write, check and describe the configuration file', load: () => import('./config.ts') },
];
