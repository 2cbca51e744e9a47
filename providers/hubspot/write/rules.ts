import { type AccountRule, ProviderError } from '../../provider.ts';
import type { Apis } from '../client/client.ts';
import { HubspotRefusal } from '../client/faults.ts';
import type { HubspotSchema } from '../read/schema.ts';

const COMPANY_TYPE = '0-2';

/**
 * Reads the account's rules that may block a write: unique properties, required properties of the company's schema, and
 * validation rules, in three calls. It leaves out what the token may not see or the API version lacks; some rules
 * appear only on HubSpot's pages.
 */
export async function readRules(apis: Apis, schema: HubspotSchema): Promise<readonly AccountRule[]> {
  const definitions = await schema.read(apis);
  const labels = new Map(definitions.map(({ name, label }) => [name, label || name]));
  const about = (name: string) => `${labels.get(name) ?? name} (${name})`;
  const unique = definitions.filter(({ hasUniqueValue }) => hasUniqueValue === true);
  const required = await ifAllowed(apis, `/crm-object-schemas/v3/schemas/${COMPANY_TYPE}`);
  const validations = await ifAllowed(apis, `/crm/v3/property-validations/${COMPANY_TYPE}`);
  return [
    ...texts(required.requiredProperties).map(
      (name): AccountRule => ({ kind: 'required', name, about: `a company must have ${about(name)}` }),
    ),
    ...records(validations.results).flatMap(({ propertyName, propertyValidationRules }) =>
      records(propertyValidationRules).map(
        ({ ruleType, ruleArguments }): AccountRule => ({
          kind: 'validation',
          name: String(ruleType ?? 'rule'),
          about: [about(String(propertyName)), ...texts(ruleArguments)].join(': '),
        }),
      ),
    ),
    ...unique.map(
      ({ name }): AccountRule => ({
        kind: 'duplicate',
        name,
        about: `two companies may not have the same ${about(name)}`,
      }),
    ),
  ];
}

async function ifAllowed(apis: Apis, path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await apis.get(path)).body;
  } catch (error) {
    const isHidden = error instanceof HubspotRefusal || (error instanceof ProviderError && error.fault === 'refused');
    if (isHidden) return {};
    throw error;
  }
}

const records = (json: unknown): Readonly<Record<string, unknown>>[] =>
  Array.isArray(json) ? json.flatMap((item) => (typeof item === 'object' && item !== null ? [{ ...item }] : [])) : [];

const texts = (json: unknown): readonly string[] => (Array.isArray(json) ? json.map(String) : []);
