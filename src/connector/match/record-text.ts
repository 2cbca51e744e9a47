/** The texts in a record that identify its company. */
import type { FieldName } from '../../../providers/fields.ts';
import type { PropertyValue } from '../../../providers/provider.ts';
import type { RecordText } from '../../match/describe/described.ts';
import type { Crm } from '../crm/crm.ts';

/** The fields that identify a company; the number is read separately. */
const TEXT_FIELDS: readonly (FieldName & keyof RecordText)[] = [
  'name',
  'street',
  'postalCode',
  'city',
  'country',
  'phone',
  'website',
  'email',
];

/** The properties of each part: the configured one, otherwise those of the mapping first. */
export type TextProperties = Readonly<Partial<Record<keyof RecordText, readonly string[]>>>;

export function textProperties(
  { mapping, provider, matchTexts = {} }: Pick<Crm, 'mapping' | 'provider' | 'matchTexts'>,
  schema: ReadonlyMap<string, unknown>,
): TextProperties {
  const rows = [...mapping, ...provider.preset];
  const propertiesOf = (part: FieldName): readonly string[] => {
    const named = matchTexts[part];
    return named === undefined ? rows.flatMap(({ field, property }) => (field === part ? property : [])) : [named];
  };
  return Object.fromEntries(
    TEXT_FIELDS.map((part) => [part, [...new Set(propertiesOf(part))].filter((property) => schema.has(property))]),
  );
}

export function readRecordText(
  properties: TextProperties,
  values: Readonly<Record<string, PropertyValue>>,
  number: string | null,
): RecordText {
  const parts = TEXT_FIELDS.map((part) => {
    const filled = (properties[part] ?? []).map((name) => values[name]).find((value) => value != null && value !== '');
    return [part, filled === undefined ? null : String(filled)] as const;
  });
  return { ...Object.fromEntries(parts), number };
}
