/** `store`: moves an installation to another store. */
import { defineCommand } from '../cli/command.ts';
import { copy } from './copy.ts';
import { reopen } from './reopen.ts';

export const command = defineCommand({
  name: 'store',
  about: 'move the installation to another place or engine: copy, reopen',
  commands: [copy, reopen],
});
