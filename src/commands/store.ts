/** `store`: moves an installation to another store. */
import { defineCommand } from './cli/command.ts';
import { copy } from './store/copy.ts';
import { reopen } from './store/reopen.ts';

export const command = defineCommand({
  name: 'store',
  about: 'move the installation to another place or engine: copy, reopen',
  commands: [copy, reopen],
});
