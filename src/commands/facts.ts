/** `facts`: manages the stored facts of companies. */
import { FIELD_NAMES, isFieldName } from '../../providers/fields.ts';
import { forgetFacts } from '../connector/apply/forget.ts';
import { readEntity } from './arguments/entity.ts';
import { needConnector } from './arguments/record-argument.ts';
import { withStore } from './arguments/with-store.ts';
import { defineCommand, type ExitCode, needed, optional, UsageError } from './cli/command.ts';

const forget = defineCommand({
  name: 'forget',
  examples: ['facts forget CVR-1-10000001 phone'],
  audit: 'fact.forget',
  about: 'forget a wrong fact, or all facts of a company, and ask the service for the full state of the company',
  args: {
    entity: needed('the company: CVR-1-12345678, or its CVR number'),
    field: optional('one field, such as name (default: all fields)'),
  },
  options: {},
  run: async (context, { entity: text, field }) => {
    const { providers } = await needConnector(context);
    const entity = readEntity(text, context.log);
    if (field !== undefined && !isFieldName(field))
      throw new UsageError(`there is no field ${field}: the fields are ${FIELD_NAMES.join(', ')}`);
    const written = providers.flatMap(({ name, mapping }) => mapping.map((row) => ({ provider: name, ...row })));
    return withStore(context, async (store): Promise<ExitCode> => {
      const { facts, records, asked } = await store.write((tx) =>
        forgetFacts(tx, { entity, field }, written, Date.now()),
      );
      if (facts.length === 0)
        throw new Error(
          `nothing is known of ${field === undefined ? '' : `${field} of `}${entity}: see cvrsync explain ${entity}`,
        );
      const names = facts.map((fact) => fact.field);
      const next = asked
        ? 'A running daemon asks the service for the full state of the company.'
        : 'No link can ask the service for a full update, so the next event brings the field back.';
      const stays =
        records.length === 0
          ? ''
          : `\n${records.join(', ')}: the written values stay until then; cvrsync undo --entity ${entity} takes them back now.`;
      context.output.result(
        { entity, forgotten: names, records, asked },
        `Forgotten of ${entity}: ${names.join(', ')}. ${next}${stays}`,
      );
      return 0;
    });
  },
});

export const command = defineCommand({
  name: 'facts',
  about: 'manage the stored facts of companies: forget a wrong one',
  commands: [forget],
});
