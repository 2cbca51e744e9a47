/**
 * Entity ids: `<data source>-<entity type number>-<id in that source>`, as in `CVR-1-12345678` (specification, "Entity
 * id"). Case does not matter in input; one canonical form is stored.
 */

/** `other` is any data source but CVR, and unknown types of CVR. */
export type EntityKind = 'company' | 'productionUnit' | 'person' | 'other';

export interface EntityId {
  /** Upper case. */
  readonly source: string;
  readonly kind: EntityKind;
  /** The third part: digits for CVR, anything (a GUID, lower case) for other sources. */
  readonly number: string;
  /** The one spelling that is stored and compared. */
  readonly canonical: string;
}

const FORM = /^([a-z][a-z0-9_]*)-(\d{1,4})-([a-z0-9][a-z0-9._:~-]*)$/i;
const LONGEST = 128;
const KINDS: Readonly<Record<string, EntityKind>> = { '1': 'company', '2': 'productionUnit', '3': 'person' };

/** Ignores case and surrounding blanks. */
export const parseEntityId = (text: string): EntityId | undefined => {
  const trimmed = text.trim();
  const match = trimmed.length > LONGEST ? null : FORM.exec(trimmed);
  const [, sourceText, type, third] = match ?? [];
  if (sourceText === undefined || type === undefined || third === undefined) return undefined;
  const source = sourceText.toUpperCase();
  const number = third.toLowerCase();
  if (source === 'CVR' && !/^\d+$/.test(number)) return undefined;
  const kind = source === 'CVR' ? (KINDS[type] ?? 'other') : 'other';
  return { source, kind, number, canonical: `${source}-${type}-${number}` };
};

/** Upper-case source, lower-case rest. */
export const canonicalEntityId = (text: string): string | undefined => parseEntityId(text)?.canonical;

/** `cvr`: eight digits. */
export const companyEntityId = (cvr: string): string => `CVR-1-${cvr}`;
