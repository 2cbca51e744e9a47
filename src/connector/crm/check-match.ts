/** Checks that the properties for finding, matching and holding records exist. Pure. */
import type { Property } from '../../../providers/provider.ts';
import type { Finding } from '../../runtime/finding.ts';
import type { CrmConfig } from './crm.ts';

export type AccountSchema = ReadonlyMap<string, Property>;

type Connected = Pick<CrmConfig, 'name'>;

/** Properties that the account lacks: cvrsync matches records without them. */
export const checkMatchTexts = (
  { name, matchTexts = {} }: Connected & Pick<CrmConfig, 'matchTexts'>,
  schema: AccountSchema,
): readonly Finding[] =>
  Object.entries(matchTexts)
    .filter(([, property]) => !schema.has(property))
    .map(([field, property]) => ({
      level: 'warn',
      subject: `${name} match ${field}`,
      found: missing(property, schema),
      advice: `correct connector.providers.${name}.match.${field}: until then records are matched without it`,
    }));

function missing(property: string, schema: AccountSchema): string {
  const near = similar(property, schema);
  return `the CRM has no property ${property}${near === undefined ? '' : `; did you mean ${near}?`}`;
}

export function checkMatch(
  { name, match }: Connected & Pick<CrmConfig, 'match'>,
  schema: AccountSchema,
): readonly Finding[] {
  const subject = `${name} match`;
  if (match === undefined)
    return [
      {
        level: 'info',
        subject,
        found: 'not set: companies are not found by their CVR number',
        advice: 'set match: { property: … }',
      },
    ];
  const property = schema.get(match);
  if (property === undefined) {
    const advice = 'create it, or name the one that holds the CVR number';
    return [{ level: 'fail', subject, found: missing(match, schema), advice }];
  }
  const isShort = (property.maxLength ?? 8) < 8;
  if (isShort || !['string', 'multiline', 'number', 'phone'].includes(property.type))
    return [
      {
        level: 'fail',
        subject,
        found: `${match} (${property.type}) cannot hold a CVR number`,
        advice: 'use a text property of 8 characters or more',
      },
    ];
  if (property.type === 'number')
    return [
      {
        level: 'warn',
        subject,
        found: `${match} is a number: it loses leading zeros, and 7 digits are taken for a CVR number that lost one`,
        advice: 'use a text property',
      },
    ];
  return [{ level: 'ok', subject, found: `${match} holds the CVR number` }];
}

export function checkHold(
  { name, hold }: Connected & Pick<CrmConfig, 'hold'>,
  schema: AccountSchema,
): readonly Finding[] {
  if (hold === undefined) return [];
  const subject = `${name} hold`;
  const property = schema.get(hold);
  if (property?.unreadable === true)
    return [
      {
        level: 'fail',
        subject,
        found: `${hold} cannot be read back, so no record can be held`,
        advice: 'let records be read (readUrl), or take hold out',
      },
    ];
  if (property !== undefined) return [{ level: 'ok', subject, found: `records where ${hold} is set are left alone` }];
  return [
    {
      level: 'fail',
      subject,
      found: `the CRM has no property ${hold}, so no record can be held`,
      advice: 'create it, or take hold out',
    },
  ];
}

/** Whether the properties of `only` exist, and have its values among their options. */
export const checkOnly = (
  { name, only = {} }: Connected & Pick<CrmConfig, 'only'>,
  schema: AccountSchema,
): readonly Finding[] =>
  Object.entries(only).map(([wanted, values]): Finding => {
    const subject = `${name} only`;
    const property = schema.get(wanted);
    if (property === undefined || property.unreadable === true) {
      const found = property === undefined ? missing(wanted, schema) : `${wanted} cannot be read back`;
      return {
        level: 'fail',
        subject,
        found,
        advice: `correct connector.providers.${name}.only: nothing is written until then`,
      };
    }
    const options = property.options?.flatMap(({ value, label }) => [value, label].map((text) => text.toLowerCase()));
    const unknown = values.filter((value) => value !== '' && options?.includes(value.toLowerCase()) === false);
    if (unknown.length > 0)
      return {
        level: 'warn',
        subject,
        found: `${wanted} has no option ${unknown.join(', ')}`,
        advice: `name its values as the CRM stores them: ${property.options
          ?.slice(0, 20)
          .map(({ value }) => value)
          .join(', ')}`,
      };
    return { level: 'ok', subject, found: `records where ${wanted} is ${values.join(' or ')} are written to` };
  });

/** The property whose name differs by case and separators only: CRMs show labels, their APIs want names. */
export function similar(name: string, schema: AccountSchema): string | undefined {
  const plain = (text: string): string => text.toLowerCase().replace(/__c$|[^a-z0-9]/gu, '');
  const wanted = plain(name);
  return [...schema.values()].find((each) => plain(each.name) === wanted || plain(each.label) === wanted)?.name;
}
