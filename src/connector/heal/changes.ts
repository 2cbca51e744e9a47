/** Polls a CRM for changes of its companies: for accounts without webhooks, and for lost webhooks. */
import { ProviderError } from '../../../providers/provider.ts';
import { held, mark } from '../../runtime/lanes/lanes.ts';
import { readValue, writeValue } from '../../store/kv.ts';
import { followOf, hintedRecords, unlinkedRecords } from '../follow/change-hints.ts';
import { readMatch } from '../follow/match-property.ts';
import { healQueue, matchQueue } from '../names/queues.ts';
import type { PollTask } from '../poll/poll-task.ts';
import { editedRecords } from '../sync/edited.ts';
import { decidingProperties } from '../sync/prepare.ts';

const changesKey = (provider: string): string => `changes:${provider}`;

/** Marks changed records page by page; the cursor and the marks of a page are one transaction. */
export const CHANGES: PollTask = {
  everyMs: ({ pollMinutes, connection }) =>
    pollMinutes > 0 && connection.changes !== undefined ? pollMinutes * 60_000 : undefined,
  first: 'now',
  async run({ store, now, log, wakeUp }, crm, claim, signal) {
    const schema = await crm.schema(signal);
    const match = await readMatch(store, crm, schema, now());
    const follow = followOf(crm, match, now());
    const undecided = { crm, schema, match: follow.match };
    const properties = decidingProperties({ ...undecided, records: [] });
    if (crm.match !== undefined && follow.match === undefined)
      log.warn(
        { provider: crm.name, property: crm.match },
        'the CRM has no such property that these credentials can read, or links were made by another one: they do not follow their numbers before a backfill by it',
      );
    for (;;) {
      signal.throwIfAborted();
      const cursor = await readValue(store.db, changesKey(crm.name));
      const seen = await crm.connection.changes?.(properties, cursor, signal);
      if (seen === undefined) return { kind: 'done' };
      const isOurs = await store.write(async (tx) => {
        if (!(await held(tx, [claim])).has(claim.key)) return false;
        const ids = await hintedRecords(tx, crm, follow, seen.changeHints);
        if (ids.length > 0) await mark(tx, healQueue(crm.name), ids, now());
        const edited = await editedRecords(tx, undecided, seen.changeHints, now());
        if (edited.length > 0) await mark(tx, `sync:${crm.name}`, edited, now());
        const seenIds = seen.changeHints.flatMap((hint) => (hint.kind === 'seen' ? hint.id : []));
        const unlinked = await unlinkedRecords(tx, crm, seenIds);
        if (unlinked.length > 0) await mark(tx, matchQueue(crm.name), unlinked, now());
        await writeValue(tx, changesKey(crm.name), seen.cursor, now());
        return true;
      });
      wakeUp.ring(healQueue(crm.name));
      wakeUp.ring(`sync:${crm.name}`);
      if (!isOurs || !seen.more) return { kind: 'done' };
      if (seen.cursor === cursor)
        throw new ProviderError('unavailable', `the changes of ${crm.name} do not move on: the same cursor came twice`);
    }
  },
};
