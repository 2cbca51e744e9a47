import { type Defined, type PropertyDefinition, type PropertyRemoval, ProviderError } from '../../provider.ts';
import type { Apis } from '../client/client.ts';
import { HubspotRefusal, lackOf, reasonOf } from '../client/faults.ts';
import type { HubspotSchema } from '../read/schema.ts';
import { WIRE_TYPES } from './wire-types.ts';

const GROUP = { name: 'cvr_register', label: 'CVR register', displayOrder: -1 };
const SCOPE = 'crm.schemas.companies.write';

/**
 * Creates the missing properties, one call each, in a separate group. If the token lacks the scope, all missing ones
 * come back refused with its name. HubSpot cannot make a property unique later.
 */
export async function defineAll(
  apis: Apis,
  schema: HubspotSchema,
  definitions: readonly PropertyDefinition[],
): Promise<readonly Defined[]> {
  const there = new Set((await schema.read(apis)).map(({ name }) => name));
  const missing = definitions.filter(({ name }) => !there.has(name));
  const outcomes = new Map<string, Defined>();
  try {
    if (missing.length > 0) await makeGroup(apis);
    for (const definition of missing) outcomes.set(definition.name, await make(apis, definition));
  } catch (error) {
    const reason = lackIn(error);
    for (const { name } of missing) if (!outcomes.has(name)) outcomes.set(name, { name, kind: 'refused', reason });
  }
  // Remember the new properties.
  if (outcomes.size > 0) await schema.read(apis);
  return definitions.map(({ name }) => outcomes.get(name) ?? { name, kind: 'exists' });
}

/** Why the token may not change properties; throws any other error. */
function lackIn(error: unknown): string {
  if (!(error instanceof ProviderError) || error.fault !== 'refused') throw error;
  return lackOf(SCOPE, error.message);
}

const BY_HAND = 'or archive it in HubSpot, Settings, Properties, once nothing uses it';

/** Archives properties, one call each. HubSpot keeps them and their values for 90 days, and refuses one that is in use. */
export async function removeAll(
  apis: Apis,
  schema: HubspotSchema,
  names: readonly string[],
): Promise<readonly PropertyRemoval[]> {
  const outcomes = new Map<string, PropertyRemoval>();
  try {
    for (const name of names) outcomes.set(name, await remove(apis, name));
  } catch (error) {
    const reason = `${lackIn(error)}; ${BY_HAND}`;
    for (const name of names) if (!outcomes.has(name)) outcomes.set(name, { name, kind: 'refused', reason });
  }
  await schema.read(apis);
  return names.map((name) => outcomes.get(name) ?? { name, kind: 'absent' });
}

async function remove(apis: Apis, name: string): Promise<PropertyRemoval> {
  try {
    await apis.remove(`/crm/v3/properties/companies/${encodeURIComponent(name)}`);
    return { name, kind: 'removed' };
  } catch (error) {
    if (!(error instanceof HubspotRefusal)) throw error;
    if (!(await exists(apis, name))) return { name, kind: 'absent' };
    return { name, kind: 'refused', reason: `${reasonOf(error.body)}; ${BY_HAND}` };
  }
}

async function makeGroup(apis: Apis): Promise<void> {
  const { results } = await apis.groups.getAll('companies');
  if (results.some(({ name, archived }) => name === GROUP.name && archived !== true)) return;
  try {
    await apis.groups.create('companies', GROUP);
  } catch (error) {
    // Another process has just created it: the properties show whether it can be used.
    if (!(error instanceof HubspotRefusal) || error.status === 404) throw error;
  }
}

async function make(apis: Apis, definition: PropertyDefinition): Promise<Defined> {
  const { name } = definition;
  try {
    // The client's class leaves out how a number is shown.
    await apis.post('/crm/v3/properties/companies', toCreate(definition));
    return { name, kind: 'created' };
  } catch (error) {
    if (!(error instanceof HubspotRefusal) || error.status === 404) throw error;
    if (await exists(apis, name)) return { name, kind: 'exists' };
    const reason = `${reasonOf(error.body)}; a deleted property keeps its name for a time: restore it in HubSpot`;
    return { name, kind: 'refused', reason: isClash(error) ? reason : reasonOf(error.body) };
  }
}

function toCreate({ name, label, type, unique, year }: PropertyDefinition): object {
  const { type: wireType, fieldType } = WIRE_TYPES[type];
  return {
    name,
    label,
    groupName: GROUP.name,
    type: wireType,
    fieldType,
    hasUniqueValue: unique === true,
    formField: false,
    ...(type === 'boolean' && { options: YES_NO }),
    // Without it HubSpot shows 2024 as 2.024.
    ...(year === true && { numberDisplayHint: 'unformatted' }),
  };
}

const YES_NO = [
  { label: 'Yes', value: 'true', displayOrder: 0, hidden: false },
  { label: 'No', value: 'false', displayOrder: 1, hidden: false },
];

const isClash = ({ status, body }: HubspotRefusal): boolean => status === 409 || /exist/i.test(body.message);

async function exists(apis: Apis, name: string): Promise<boolean> {
  try {
    return (await apis.properties.getByName('companies', name, false)).archived !== true;
  } catch (error) {
    if (error instanceof HubspotRefusal && error.status === 404) return false;
    throw error;
  }
}
