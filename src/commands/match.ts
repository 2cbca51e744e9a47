/** `match`: the company that a record without a number means. */
import { defineCommand } from './cli/command.ts';
import { find } from './match/find.ts';
import { index } from './match/make-index.ts';

export const command = defineCommand({
  name: 'match',
  about: 'find the company of records that have no CVR number: index, find',
  commands: [index, find],
});
