/** `release`: lets the register win over a person's edit. */
import { clearOverride, setOverride } from '../connector/overrides/override.ts';
import { needConnector, needLink, needProperty, readRecord } from './arguments/record-argument.ts';
import { withStore } from './arguments/with-store.ts';
import { defineCommand, type ExitCode, flag, needed, UsageError } from './cli/command.ts';

export const command = defineCommand({
  name: 'release',
  examples: ['release hubspot:1234567890 name', 'release hubspot:1234567890 name --once'],
  audit: 'record.release',
  about: "let the register overwrite a person's edit of a property, from now on or once",
  args: {
    record: needed('the record, such as hubspot:123'),
    property: needed('the property in the CRM'),
  },
  options: {
    once: flag('for one write only'),
    clear: flag('end the release'),
  },
  run: async (context, { record, property }, options) => {
    if (options.once && options.clear) throw new UsageError('choose --once or --clear, not both');
    const connector = await needConnector(context);
    const ref = { ...readRecord(record, connector), property };
    if (!options.clear) needProperty(connector, ref, property);
    return withStore(context, async (store): Promise<ExitCode> => {
      const { entity, state } = await needLink(store.db, ref);
      if (options.clear) {
        if (!(await store.write((tx) => clearOverride(tx, ref, 'release', Date.now()))))
          throw new Error(`${record} has no release of ${property}: cvrsync explain ${record} shows its overrides`);
        context.output.result(
          { record, property, override: null },
          `The release of ${property} on ${record} has ended.`,
        );
        return 0;
      }
      const override = { kind: 'release', once: options.once, until: null, reason: null } as const;
      await store.write((tx) => setOverride(tx, ref, override, Date.now()));
      const how = options.once ? 'once' : 'from now on';
      const idle = state === 'active' ? '' : ` Its link is ${state}, so nothing is written until it is active.`;
      context.output.result(
        { record, property, entity, override },
        `The register's value of ${entity} overwrites ${property} of ${record} ${how}. A running daemon writes it now.${idle}`,
      );
      return 0;
    });
  },
});
