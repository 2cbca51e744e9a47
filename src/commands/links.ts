/** `links`: shows which CRM record belongs to which company. */
import { LINK_STATES, listLinks } from '../connector/links/links.ts';
import { readEntity } from './arguments/entity.ts';
import { recordIdsIn } from './arguments/record-argument.ts';
import { needProvider } from './arguments/with-monitoring.ts';
import { withStore } from './arguments/with-store.ts';
import { defineCommand, type ExitCode, oneOf, optional, positive, text } from './cli/command.ts';
import { timeCell } from './cli/when.ts';

const MOST = 1_000;

export const command = defineCommand({
  name: 'links',
  examples: ['links hubspot --state conflict', 'links --entity CVR-1-10000001'],
  about: 'show which record is linked to which company, and whether the service monitors it',
  args: { provider: optional('only links of this CRM') },
  options: {
    entity: text('only links of this company: CVR-1-12345678, or its CVR number', 'id'),
    record: text('only links of this record, by its id in the CRM', 'id'),
    state: oneOf(LINK_STATES, 'only links in this state'),
    limit: positive(`show at most this many (default ${MOST})`),
  },
  run: async (context, { provider }, { entity, record, state, limit = MOST }) => {
    const asked = entity === undefined ? undefined : readEntity(entity, context.log);
    const { connector } = await context.config([]);
    const recordIds = record === undefined ? undefined : recordIdsIn(connector ?? { providers: [] }, provider, record);
    return withStore<ExitCode>(context, async (store) => {
      const found = await listLinks(store.db, { provider, entity: asked, recordIds, state, limit: limit + 1 });
      // A connection that left the configuration may still have links.
      if (found.length === 0 && provider !== undefined && connector !== undefined) needProvider(connector, provider);
      const rows = found.slice(0, limit).map((link) => ({
        provider: link.provider,
        record: link.record_id,
        entity: link.entity,
        state: link.state,
        observed: link.observed === 'on' || link.desired === 'off' ? link.observed : `${link.observed}, desired on`,
        synced: timeCell(link.synced_at),
        why: link.reason ?? link.observed_error,
      }));
      const isFiltered = [provider, entity, record, state].some((each) => each !== undefined);
      context.output.table(rows, isFiltered ? 'No link matches: use fewer filters.' : 'No record is linked.');
      if (found.length > limit)
        context.log.warn({ limit }, 'there are more links: raise --limit, or narrow the list with the other options');
      return 0;
    });
  },
});
