/** `store reopen`: reopens a store that was copied to another place. */

import { openStore } from '../../store/engines/open.ts';
import { reopenStore } from '../../store/move/begin.ts';
import { shownPlace } from '../../store/move/mark.ts';
import { requireStore } from '../arguments/with-store.ts';
import { defineCommand, flag } from '../cli/command.ts';
import { confirmMany } from '../cli/confirm.ts';

export const reopen = defineCommand({
  name: 'reopen',
  examples: ['store reopen --yes'],
  audit: 'store.reopen',
  about: 'use a store again that was copied with store copy, or give up a copy that is not whole',
  options: { yes: flag('reopen it without asking') },
  run: async (context, _args, { yes }) => {
    const { store: url } = await context.config([]);
    requireStore(url);
    const question = `Use ${shownPlace(url)} again? Its copy must not be used any more.`;
    if (!(await confirmMany(context, yes, question, 'run it at a terminal'))) return 1;
    const store = await openStore(url, { migrate: false, mayBeMoved: true });
    try {
      const mark = await reopenStore(store, url);
      const place = shownPlace(url);
      context.output.result(
        { store: place, reopened: mark !== undefined, copy: mark?.place ?? null },
        mark === undefined
          ? `${place} was not copied: it is in use as before.`
          : `${place} is in use again. Delete its copy at ${mark.place}: two installations would write the same records.`,
      );
    } finally {
      await store.close();
    }
    return 0;
  },
});
