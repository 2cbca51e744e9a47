/** Resolves which company field goes to which property: the preset, overridden by the configuration. */
import { fieldsOf, unfitText } from '../../providers/composed.ts';
import { FIELD_NAMES, FIELDS, type FieldName } from '../../providers/fields.ts';
import type { Policy, Preset, PresetRow } from '../../providers/provider.ts';
import type { ConfigProblem } from './schema/fill.ts';
import type { FieldRule } from './schema/schema.ts';

export type MappingRow = PresetRow;

export type FieldRules = Readonly<Record<string, FieldRule | undefined>>;

/**
 * Resolves the mapping; pure. A configured field replaces all of its preset's rows; `false` removes them. A policy with
 * a field wins. The connection's policy comes next: it replaces `tracked` in the preset, while preset rows with another
 * policy (own properties under `always`) keep theirs. Two fields never write one property.
 */
export function resolveMapping(
  preset: Preset,
  { fields: rules, policy }: { readonly fields: FieldRules; readonly policy?: Policy | undefined },
  path: string,
  problems: ConfigProblem[],
): readonly MappingRow[] {
  const base = preset.map(
    (row): MappingRow => (row.policy === 'tracked' && policy !== undefined ? { ...row, policy } : row),
  );
  const rows = FIELD_NAMES.flatMap((field): readonly MappingRow[] => {
    const rule = rules[field];
    if (rule === undefined) return base.filter((row) => row.field === field);
    return targetsOf(rule).map((target) => {
      const inPreset = base.find((row) => row.field === field && row.property === target.property);
      return {
        field,
        property: target.property,
        policy: target.policy ?? inPreset?.policy ?? policy ?? 'tracked',
        ...(target.join !== undefined && { join: target.join }),
        ...(target.text !== undefined && { text: target.text }),
        ...(target.case !== undefined && { case: target.case }),
        // Which accounts have the property does not depend on its policy.
        ...(inPreset?.unless !== undefined && { unless: inPreset.unless }),
        ...(inPreset?.optional !== undefined && { optional: inPreset.optional }),
        ...(inPreset?.address !== undefined && { address: inPreset.address }),
      };
    });
  });
  reportShared(rows, rules, path, problems);
  reportTexts(rows, path, problems);
  return rows;
}

interface Target {
  readonly property: string;
  readonly policy?: Policy | undefined;
  readonly join?: string | undefined;
  readonly text?: string | undefined;
  readonly case?: 'upper' | 'lower' | undefined;
}

const targetsOf = (rule: FieldRule): readonly Target[] => {
  if (rule === false) return [];
  const targets = Array.isArray(rule) ? rule : [rule];
  return targets.map((target) => (typeof target === 'string' ? { property: target } : target));
};

/** Reports a `composed` without a text, a text of another field, and a text with unknown fields. */
function reportTexts(rows: readonly MappingRow[], path: string, problems: ConfigProblem[]): void {
  for (const { field, property, text } of rows) {
    const wrong =
      field === 'composed'
        ? text === undefined
          ? `needs a text, such as { property: ${property}, text: "{street}, {postalCode} {city}" }`
          : unfitText(text)
        : text && 'takes no text: only composed does';
    if (wrong) problems.push({ path: `${path}.${field}`, message: wrong });
  }
}

/** CRMs ignore case in property names. */
function reportShared(rows: readonly MappingRow[], rules: FieldRules, path: string, problems: ConfigProblem[]): void {
  const owners = new Map<string, FieldName>();
  for (const { field, property } of rows) {
    const owner = owners.get(property.toLowerCase());
    owners.set(property.toLowerCase(), owner ?? field);
    if (owner === undefined) continue;
    const [named, other] = rules[field] === undefined ? [owner, field] : [field, owner];
    const advice = other === named ? 'name it once' : `choose another property, or set ${other}: false`;
    problems.push({ path: `${path}.${named}`, message: `${property} is already written by ${other}: ${advice}` });
  }
}

/** Reports rows that write the property of the number: records would change company without a decision. */
export function reportNumber(
  rows: readonly MappingRow[],
  match: string | undefined,
  path: string,
  problems: ConfigProblem[],
): void {
  for (const { field, property } of rows.filter((row) => row.property.toLowerCase() === match?.toLowerCase()))
    problems.push({
      path: `${path}.${field}`,
      message: `${property} is what records are found by (match), and is written only for matches that a person accepts: choose another property, or set ${field}: false`,
    });
}

/** Reports rows that would write natural persons through a connection without `persons`. */
export function reportPersons(rows: readonly MappingRow[], path: string, problems: ConfigProblem[]): void {
  const named = rows.filter(
    (row) => row.policy !== 'never' && fieldsOf([row]).some((field) => 'persons' in FIELDS[field]),
  );
  for (const { field, property } of named) {
    const message = `${property} would name persons: set persons: true for this connection, or ${field}: false`;
    problems.push({ path: `${path}.${field}`, message });
  }
}

/** Reports rows that would write beneficial owners without a legal basis. */
export function reportBeneficialOwners(rows: readonly MappingRow[], path: string, problems: ConfigProblem[]): void {
  const named = rows.filter(
    (row) => row.policy !== 'never' && fieldsOf([row]).some((field) => BENEFICIAL_OWNER_FIELDS.has(field)),
  );
  for (const { field, property } of named) {
    const message = `${property} would hold beneficial owners: state in beneficialOwners.legalBasis why you may have them, or set ${field}: false`;
    problems.push({ path: `${path}.${field}`, message });
  }
}

const BENEFICIAL_OWNER_FIELDS: ReadonlySet<FieldName> = new Set(['trueOwners', 'trueVoteRights']);

/** Reports rows of a field that is never completely known: their property would never be written. */
export function reportNeverWhole(rows: readonly MappingRow[], path: string, problems: ConfigProblem[]): void {
  for (const { field, property } of rows.filter(isNeverWritten))
    problems.push({ path: `${path}.${field}`, message: `${property} ${NEVER_WRITTEN}: set ${field}: false` });
}

const NEVER_WRITTEN = 'would never be written, since events name one member at a time and no payload names them all';

const isNeverWritten = ({ field, policy }: MappingRow): boolean => 'partial' in FIELDS[field] && policy !== 'never';
