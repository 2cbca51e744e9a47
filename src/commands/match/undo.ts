/** `match undo`: takes back the links of a plan, as one run. */

import { statSync } from 'node:fs';
import { type PlanUndone, undoPlan } from '../../connector/backfill/undo-plan.ts';
import { withBackfill } from '../backfill/with-backfill.ts';
import { defineCommand, flag, needed, UsageError } from '../cli/command.ts';
import { confirmMany } from '../cli/confirm.ts';
import { countOf } from '../cli/count-of.ts';

export const undo = defineCommand({
  name: 'undo',
  examples: ['match undo hubspot matches.csv'],
  audit: 'match.undo',
  about: 'end the links that a plan made, and restore the values that cvrsync wrote into their records',
  args: {
    provider: needed('the CRM, as it is named in the configuration'),
    file: needed('the plan that was applied'),
  },
  options: { yes: flag('take the links back without asking') },
  run: async (context, { provider, file }, { yes }) => {
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) throw new UsageError(`there is no file ${file}`);
    return withBackfill(context, provider, async (opened) => {
      const question = `End all links of ${provider} that ${file} made, and restore the values of their records?`;
      if (!(await confirmMany(context, yes, question, `end single links with cvrsync monitoring remove`))) return 0;
      const undone = await undoPlan(opened, file, context.signal);
      const { unlinked, left, properties } = undone;
      const kept = properties.filter(({ kind }) => !FINE.has(kind)).length;
      context.output.result({ provider, unlinked, left, properties }, textOf(undone, kept));
      return left + kept > 0 ? 3 : 0;
    });
  },
});

const FINE: ReadonlySet<string> = new Set(['restored', 'nothing', 'undone']);

const textOf = ({ unlinked, left, properties }: PlanUndone, kept: number): string => {
  const restored = properties.filter(({ kind }) => kind === 'restored').length;
  return [
    `Unlinked ${countOf(unlinked, 'record')} and restored ${countOf(restored, 'value')}.`,
    ...(left === 0
      ? []
      : [`Left alone ${countOf(left, 'record')} that ${left === 1 ? 'is' : 'are'} not linked by this plan.`]),
    ...(kept === 0
      ? []
      : [`${kept} values stay as they are: somebody changed them, or the CRM refused; --json names them.`]),
  ].join('\n');
};
