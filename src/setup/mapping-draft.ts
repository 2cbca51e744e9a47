/** The mapping of a connection while it is set up: its rows, and what of them differs from the preset. Pure. */
import { FIELD_NAMES, type FieldName, type FieldValue } from '../../providers/fields.ts';
import type { Policy, Preset } from '../../providers/provider.ts';
import { resolveMapping } from '../config/mapping.ts';
import { extract } from '../connector/facts/extract.ts';
import { samplePayload } from '../protocol/sample/stream.ts';
import type { DraftConnection } from './draft.ts';

/** A field, where it goes, and who wins. An empty property: nowhere. */
export interface DraftRow {
  readonly field: FieldName;
  readonly property: string;
  readonly policy: Policy;
}

type Fields = NonNullable<DraftConnection['fields']>;

/** The rows of the answers so far, in the order of the fields. */
export const rowsOf = (preset: Preset, fields: Fields): readonly DraftRow[] =>
  resolveMapping(preset, { fields }, '', []).map(({ field, property, policy }) => ({ field, property, policy }));

/** Fields that go nowhere: they can be added. */
export function unmapped(preset: Preset, fields: Fields): readonly FieldName[] {
  const mapped = new Set<FieldName>(rowsOf(preset, fields).map(({ field }) => field));
  return FIELD_NAMES.filter((field) => !mapped.has(field));
}

/** The rules for the file: only what differs from the preset. */
export function fieldsOf(preset: Preset, rows: readonly DraftRow[]): Fields {
  const usual = rowsOf(preset, {});
  const shown = (list: readonly DraftRow[]): string =>
    JSON.stringify(list.map(({ property, policy }) => [property, policy]));
  const differing = FIELD_NAMES.flatMap((field) => {
    const ofField = rows.filter((row) => row.field === field && row.property !== '');
    if (shown(ofField) === shown(usual.filter((row) => row.field === field))) return [];
    const rule = ofField.length === 0 ? false : ofField.map((row) => targetOf(preset, row));
    return [[field, rule] as const];
  });
  return Object.fromEntries(differing);
}

/** By its name alone where its policy is the usual one. */
function targetOf(preset: Preset, { field, property, policy }: DraftRow) {
  const usual = preset.find((row) => row.field === field && row.property === property)?.policy ?? 'tracked';
  return policy === usual ? property : { property, policy };
}

/** A value of an invented company for each field that has one, as an example. */
export function exampleValues(now: number): ReadonlyMap<FieldName, FieldValue> {
  const known = extract(samplePayload({ seed: 7, now })).flatMap((each) =>
    'field' in each && 'now' in each ? [[each.field, each.now] as const] : [],
  );
  return new Map(known);
}
