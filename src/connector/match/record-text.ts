/** What a record says of the company that it means: the texts of the properties that may hold them. */
import type { FieldName } from '../../../providers/fields.ts';
import type { PropertyValue } from '../../../providers/provider.ts';
import type { RecordText } from '../../match/described.ts';
import type { Crm } from '../crm/crm.ts';

/** The fields that say which company a record means; its number is read apart. */
const PARTS: readonly (FieldName & keyof RecordText)[] = [
  'name',
  'street',
  'postalCode',
  'city',
  'country',
  'phone',
  'website',
  'email',
];

/** The properties that may hold each part: the one that the configuration names for it, else those of the mapping first. */
export type TextProperties = Readonly<Partial<Record<keyof RecordText, readonly string[]>>>;

/** Those that the account has. */
export function textProperties(
  { mapping, provider, matchTexts = {} }: Pick<Crm, 'mapping' | 'provider' | 'matchTexts'>,
  schema: ReadonlyMap<string, unknown>,
): TextProperties {
  const rows = [...mapping, ...provider.preset];
  const namesOf = (part: FieldName): readonly string[] => {
    const named = matchTexts[part];
    return named === undefined ? rows.flatMap(({ field, property }) => (field === part ? property : [])) : [named];
  };
  return Object.fromEntries(
    PARTS.map((part) => [part, [...new Set(namesOf(part))].filter((property) => schema.has(property))]),
  );
}

/** The first filled property of each part; `number` is what the record holds as its number. */
export function readRecordText(
  properties: TextProperties,
  values: Readonly<Record<string, PropertyValue>>,
  number: string | null,
): RecordText {
  const parts = PARTS.map((part) => {
    const filled = (properties[part] ?? []).map((name) => values[name]).find((value) => value != null && value !== '');
    return [part, filled === undefined ? null : String(filled)] as const;
  });
  return { ...Object.fromEntries(parts), number };
}
