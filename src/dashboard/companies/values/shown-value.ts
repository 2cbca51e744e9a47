/**
 * Values in the reader's form, as far as the role may see them: viewers see that there is a person, not who. Mail
 * addresses are masked in the whole page: `page/masked.ts`.
 */
import { FIELDS, type FieldName, type FieldValue, isFieldName } from '../../../../providers/fields.ts';
import type { Crm } from '../../../connector/crm/crm.ts';
import { isPerson } from '../../../connector/facts/persons.ts';
import { maskName } from '../../page/masked.ts';
import { brief } from '../../page/parts.ts';
import type { Reader } from '../../page/reader.ts';
import type { Visitor } from '../../page/visit.ts';

/** The reader of values. */
export interface Spectator extends Pick<Visitor, 'role' | 'seesPersons'> {
  readonly reader: Reader;
}

/** Whether values of a field may name persons in text whose type does not say so. */
const mayName = (field: FieldName): boolean =>
  'persons' in FIELDS[field] || field === 'accountant' || field === 'coName';

/** A field's value as text; undefined if the register has none. */
export function shownFact({ reader, seesPersons }: Spectator, field: FieldName, value: FieldValue): string | undefined {
  if (typeof value !== 'object' || value === null) return shownProperty({ reader, seesPersons }, field, value);
  const isMasked = (id: string, type: string | undefined): boolean =>
    !seesPersons && ('persons' in FIELDS[field] || isPerson(id, type));
  const members = value.map(({ id, name, type, share }) => {
    const shown = isMasked(id, type) ? maskName(name) : name;
    return share === undefined ? shown : `${shown} (${share} %)`;
  });
  return members.length === 0 ? undefined : members.join(', ');
}

/** A property's value as text; undefined if it is blank. `field`: the source of the property. */
export function shownProperty(
  { reader, seesPersons }: Pick<Spectator, 'reader' | 'seesPersons'>,
  field: string | null,
  value: unknown,
): string | undefined {
  const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
  if (field === null || !isFieldName(field)) return plain(text);
  const shown = inForm(reader, field, text);
  return shown !== undefined && !seesPersons && mayNamePersons(field) ? maskName(shown) : shown;
}

/** As {@link shownProperty}, cut for a list. */
export function briefProperty(spectator: Spectator, field: string | null, value: unknown): string | undefined {
  const shown = shownProperty(spectator, field, value);
  return shown && brief(shown);
}

/** A value before and after, each cut. Times within a minute get seconds, so that they differ. */
export function briefChange(
  spectator: Spectator,
  field: string | null,
  { old, now }: { readonly old: unknown; readonly now: unknown },
): readonly [string | undefined, string | undefined] {
  const shown = [old, now].map((each) => briefProperty(spectator, field, each));
  const isTime = field !== null && isFieldName(field) && FIELDS[field].kind === 'datetime';
  const times = [old, now].map((each) => Date.parse(String(each)));
  if (isTime && shown[0] === shown[1] && !times.some(Number.isNaN))
    return [spectator.reader.second(times[0] ?? 0), spectator.reader.second(times[1] ?? 0)];
  return [shown[0], shown[1]];
}

export const mayNamePersons = (field: FieldName | null): boolean => field !== null && mayName(field);

/** The field that a property of a connection comes from; null if the mapping does not have it. */
export const fieldOfProperty = (
  crms: readonly Pick<Crm, 'name' | 'mapping'>[],
  provider: string,
  property: string,
): FieldName | null =>
  crms.find(({ name }) => name === provider)?.mapping.find((row) => row.property === property)?.field ?? null;

/** A field in the reader's words. */
export const fieldWord = (reader: Reader, field: string): string =>
  isFieldName(field) ? reader.text(`field.${field}`) : field;

const plain = (value: unknown): string | undefined =>
  value === null || value === undefined || value === '' ? undefined : String(value);

/** A value in the format of the reader's country; a value of another format is shown unchanged. */
function inForm(reader: Reader, field: FieldName, value: unknown): string | undefined {
  const text = plain(value);
  if (text === undefined) return undefined;
  switch (FIELDS[field].kind) {
    case 'number':
      return Number.isFinite(Number(text)) ? reader.number(Number(text)) : text;
    case 'boolean':
      return text === 'true' || text === 'false' ? reader.text(text === 'true' ? 'value.yes' : 'value.no') : text;
    case 'date':
      return /^\d{4}-\d\d-\d\d/.test(text) ? reader.day(Date.parse(text.slice(0, 10))) : text;
    case 'datetime':
      return Number.isNaN(Date.parse(text)) ? text : reader.time(Date.parse(text));
    default:
      return text;
  }
}
