/** `release`: lets the register win over a person's edit. */
import { clearRecord, releaseProperty } from '../operations/connector/records.ts';
import { linksHint, needConnector, readRecord } from './arguments/record-argument.ts';
import { withStore } from './arguments/with-store.ts';
import { defineCommand, type ExitCode, flag, needed, UsageError } from './cli/command.ts';
import { performHere } from './operations/operation-command.ts';

export const command = defineCommand({
  name: 'release',
  operation: [releaseProperty.name, clearRecord.name],
  about: releaseProperty.about,
  examples: ['release hubspot:1234567890 name', 'release hubspot:1234567890 name --once'],
  args: {
    record: needed('the record, such as hubspot:123'),
    property: needed('the property in the CRM'),
  },
  options: {
    once: flag('for one write only'),
    clear: flag('end the release'),
  },
  run: async (context, { record, property }, { once, clear }) => {
    if (once && clear) throw new UsageError('choose --once or --clear, not both');
    const connector = await needConnector(context);
    const { provider, recordId } = readRecord(record, connector);
    const input = { provider, record: recordId, property };
    return withStore(context, async (store): Promise<ExitCode> => {
      const ground = { store, now: Date.now, crms: connector.providers };
      if (clear) {
        await performHere(clearRecord, { ...input, kind: 'release' }, ground, linksHint(provider));
        context.output.result(
          { record, property, override: null },
          `The release of ${property} on ${record} has ended.`,
        );
        return 0;
      }
      const { entity, link } = await performHere(releaseProperty, { ...input, once }, ground, linksHint(provider));
      const how = once ? 'once' : 'from now on';
      const idle = link === 'active' ? '' : ` Its link is ${link}, so nothing is written until it is active.`;
      const override = { kind: 'release', once, until: null, reason: null };
      context.output.result(
        { record, property, entity, override },
        `The register's value of ${entity} overwrites ${property} of ${record} ${how}. A running daemon writes it now.${idle}`,
      );
      return 0;
    });
  },
});
