/** Drafts the record of a company that is new in the CRM. */
import type { FieldName } from '../../../providers/fields.ts';
import type { Property, PropertyValue } from '../../../providers/provider.ts';
import type { Db } from '../../store/store.ts';
import type { Crm } from '../crm/crm.ts';
import { patchOf, planRecord } from '../decide/plan.ts';
import type { Planned } from '../decide/planned.ts';
import { type Fact, factValue } from '../facts/fact.ts';
import { readFacts } from '../facts/facts.ts';

export interface RecordDraft {
  readonly name: string;
  readonly match: string;
  readonly nameProperty: string | undefined;
  readonly numeric: boolean;
  readonly properties: Readonly<Record<string, PropertyValue>>;
  readonly planned: readonly Planned[];
  readonly schema: ReadonlyMap<string, Property>;
  /** Whether the service reported the company, so that its number is the register's. */
  readonly isKnown: boolean;
}

/** The message says what to do. */
export class DraftError extends Error {
  override readonly name = 'DraftError';
}

export async function draftRecord(
  db: Db,
  crm: Crm,
  {
    entity,
    number,
    name: given,
  }: { readonly entity: string; readonly number: string; readonly name: string | undefined },
  signal: AbortSignal,
): Promise<RecordDraft> {
  const schema = await crm.schema(signal);
  const { name: provider, match, mapping, values } = crm;
  if (match === undefined)
    throw new DraftError(
      `set connector.providers.${provider}.match: the property in which ${provider} keeps the CVR number`,
    );
  const property = schema.get(match);
  if (property?.writable !== true)
    throw new DraftError(
      `${provider} has no property ${match} that these credentials can write: cvrsync check says what to do`,
    );
  const facts = new Map((await readFacts(db, [entity])).map((fact): [FieldName, Fact] => [fact.field, fact]));
  const name = given ?? nameIn(facts);
  if (name === undefined)
    throw new DraftError(`nothing is known of ${entity} here yet, so it has no name: give it with --name`);
  const planned = planRecord({
    entity,
    mapping,
    values,
    schema,
    facts,
    known: () => [],
    wholes: [],
    remembered: new Map(),
    overrides: new Map(),
    trust: 'crm',
    persons: crm.persons,
    currency: crm.currency,
    dashboard: crm.dashboard,
    crm: {},
  });
  const nameProperty = [...mapping, ...crm.provider.preset].find(
    (row) => row.field === 'name' && schema.get(row.property)?.writable === true,
  )?.property;
  const own = planned.filter((one) => one.property !== match && (given === undefined || one.property !== nameProperty));
  return {
    name,
    match,
    nameProperty,
    numeric: property.type === 'number',
    properties: {
      ...patchOf(own),
      ...(nameProperty !== undefined && { [nameProperty]: name }),
      [match]: property.type === 'number' ? Number(number) : number,
    },
    planned: own,
    schema,
    isKnown: facts.size > 0,
  };
}

function nameIn(facts: ReadonlyMap<FieldName, Fact>): string | undefined {
  const fact = facts.get('name');
  const value = fact === undefined ? undefined : factValue(fact);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}
