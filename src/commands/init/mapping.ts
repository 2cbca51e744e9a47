/** Shows the mapping of a connection in a terminal, and asks which fields to change. */
import { FIELDS, type FieldName, isFieldName } from '../../../providers/fields.ts';
import type { Policy, Preset } from '../../../providers/provider.ts';
import type { DraftConnection } from '../../setup/draft.ts';
import { type DraftRow, fieldsOf, rowsOf } from '../../setup/mapping-draft.ts';
import { UsageError } from '../cli/command.ts';
import type { CommandContext } from '../cli/context.ts';
import type { Asker } from './asker.ts';

/** In the words of the mapping's page. */
const POLICIES: Readonly<Record<Policy, string>> = {
  tracked: 'the register, unless a person edited it',
  always: 'the register, always',
  'if-blank': 'the CRM: only blanks are filled',
  never: 'the CRM: nothing is written',
};

/** Means no property. */
const NOWHERE = '-';

export interface MappingQuestion {
  readonly name: string;
  readonly preset: Preset;
  /** The properties that the CRM has, or will have; undefined if unknown. */
  readonly properties: ReadonlySet<string> | undefined;
}

/** The connection with the chosen mapping. Throws {@link UsageError}. */
export async function askMapping(
  { output, asker }: Pick<CommandContext, 'output'> & { readonly asker: Asker },
  { name, preset, properties }: MappingQuestion,
  connection: DraftConnection,
): Promise<DraftConnection> {
  const before = rowsOf(preset, connection);
  output.table(before.map(({ field, property, policy }) => ({ field, property, 'who wins': POLICIES[policy] })));
  const about = 'Fields to map otherwise, separated by commas; empty: as above';
  const chosen = listIn(await asker.ask({ key: `${name}.mapping`, about }));
  let rows = before;
  for (const field of chosen) {
    if (!isFieldName(field)) throw new UsageError(`${name}.mapping: there is no field ${field}`);
    const others = rows.filter((row) => row.field !== field);
    rows = [...others, ...(await askField(asker, { name, properties }, field, rows))];
  }
  return { ...connection, fields: fieldsOf(preset, rows, connection) };
}

async function askField(
  asker: Asker,
  { name, properties }: Pick<MappingQuestion, 'name' | 'properties'>,
  field: FieldName,
  rows: readonly DraftRow[],
): Promise<readonly DraftRow[]> {
  const own = rows.filter((row) => row.field === field);
  const key = `${name}.fields.${field}`;
  const about = `${FIELDS[field].about} (${field}): properties, separated by commas; ${NOWHERE}: nowhere`;
  const usual = own.map(({ property }) => property).join(', ') || NOWHERE;
  const chosen = listIn(await asker.ask({ key: `${key}.property`, about, usual })).filter((each) => each !== NOWHERE);
  const unknown = chosen.find((property) => properties?.has(property) === false);
  if (unknown !== undefined) throw new UsageError(`${key}.property: ${name} has no property ${unknown}`);
  const [first] = chosen;
  if (first === undefined) return [];
  const policyOf = (property: string) => own.find((row) => row.property === property)?.policy;
  const policy = await asker.ask({
    key: `${key}.policy`,
    about: `Who wins in ${first}: ${Object.entries(POLICIES)
      .map((each) => each.join(' – '))
      .join('; ')}`,
    usual: policyOf(first) ?? 'tracked',
    choices: Object.keys(POLICIES),
  });
  return chosen.map((property) => ({
    ...(own.find((row) => row.property === property) ?? { field, property, policy: 'tracked' as const }),
    ...(property === first && isPolicy(policy) && { policy }),
  }));
}

const isPolicy = (text: string): text is Policy => Object.hasOwn(POLICIES, text);

const listIn = (text: string): readonly string[] =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
