/** The mapping of a connection as rows for its page, and the rules that differ from the preset. Pure. */
import { FIELD_NAMES, type FieldName, type FieldValue } from '../../providers/fields.ts';
import type { Policy, Preset } from '../../providers/provider.ts';
import { resolveMapping } from '../config/mapping.ts';
import { extract } from '../connector/facts/extract.ts';
import { type Fact, factValue, fold } from '../connector/facts/fact.ts';
import type { InventedCompany } from '../connector/proposals/effect.ts';
import { samplePayload } from '../protocol/sample/stream.ts';
import type { DraftConnection } from './draft.ts';

/** A field with its property and policy. An empty property: the field goes nowhere. */
export interface DraftRow {
  readonly field: FieldName;
  readonly property: string;
  readonly policy: Policy;
  /** For `composed`: the text with fields in braces. */
  readonly text?: string | undefined;
  readonly case?: 'upper' | 'lower' | undefined;
  readonly join?: string | undefined;
}

type Rules = Pick<DraftConnection, 'fields' | 'policy'>;

/** The rows of some answers, in the order of the fields. */
export const rowsOf = (preset: Preset, { fields = {}, policy }: Rules): readonly DraftRow[] =>
  resolveMapping(preset, { fields, policy }, '', []).map(
    ({ field, property, policy: own, text, case: letters, join }) => ({
      ...{ field, property, policy: own },
      ...(text !== undefined && { text }),
      ...(letters !== undefined && { case: letters }),
      ...(join !== undefined && { join }),
    }),
  );

/** The rules for the file: those that differ from the preset, and earlier ones that still mean the same. */
export function fieldsOf(
  preset: Preset,
  rows: readonly DraftRow[],
  before: Rules = {},
): NonNullable<DraftConnection['fields']> {
  const { policy } = before;
  const [former, usual] = [rowsOf(preset, before), rowsOf(preset, policy === undefined ? {} : { policy })];
  const rules = FIELD_NAMES.flatMap((field) => {
    const of = (list: readonly DraftRow[]) => list.filter((row) => row.field === field && row.property !== '');
    const own = of(rows);
    const stated = before.fields?.[field];
    if (shown(own) === shown(of(former))) return stated === undefined ? [] : [[field, stated] as const];
    if (shown(own) === shown(of(usual))) return [];
    return [[field, own.length === 0 ? (false as const) : own.map((row) => targetOf(usual, row, policy))] as const];
  });
  return Object.fromEntries(rules);
}

const shown = (list: readonly DraftRow[]): string =>
  JSON.stringify(
    list.map(({ property, policy, text, case: letters, join }) => [property, policy, text, letters, join]),
  );

/** Only the name if everything else is the default. */
function targetOf(
  usual: readonly DraftRow[],
  { field, property, policy, text, case: letters, join }: DraftRow,
  common: Policy = 'tracked',
) {
  const inPreset = usual.find((row) => row.field === field && row.property === property);
  const more = {
    ...(policy !== (inPreset?.policy ?? common) && { policy }),
    ...(text !== undefined && { text }),
    ...(letters !== undefined && { case: letters }),
    ...(join !== undefined && { join }),
  };
  return Object.keys(more).length === 0 ? property : { property, ...more };
}

const SEED = 7;

/** An invented company with a value for nearly every field. */
export function inventedCompany(now: number, seed = SEED): InventedCompany {
  const payload = samplePayload({ seed, now });
  const facts = new Map<FieldName, Fact>();
  for (const each of extract(payload))
    facts.set(each.field, fold(facts.get(each.field), payload.entityId, each, 1).fact);
  return { entity: payload.entityId, facts };
}

/** The known values of a company by field. */
export const valuesOf = (facts: ReadonlyMap<FieldName, Fact>): ReadonlyMap<FieldName, FieldValue> =>
  new Map(
    [...facts].flatMap(([field, fact]) => {
      const value = factValue(fact);
      return value === undefined ? [] : [[field, value] as const];
    }),
  );

/** Companies to read for examples. */
const COMPANIES = 60;

/** Values of a field in the register, as examples to translate. */
export function exampleTexts(field: FieldName, now: number): readonly string[] {
  const texts = Array.from({ length: COMPANIES }, (_, seed) => {
    const fact = inventedCompany(now, seed + 1).facts.get(field);
    const value = fact && factValue(fact);
    return value === undefined || value === null || typeof value === 'object' ? '' : String(value);
  });
  return [...new Set(texts)].filter((text) => text !== '').toSorted();
}
