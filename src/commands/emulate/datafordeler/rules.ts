/** The rules of Datafordeler that its schema does not state: each breach has a code of its own. */
import { type DocumentNode, Kind, type OperationDefinitionNode, visit } from 'graphql';
import { isJsonObject } from '../../../protocol/text/json.ts';
import { TABLES } from './schema.ts';

export interface Breach {
  readonly code: string;
  readonly message: string;
}

const MOST_VALUES = 100;
const MOST_ROWS = 1_000;

/** The rule that a query breaks. */
export function breachOf(document: DocumentNode): Breach | undefined {
  const operations = document.definitions.filter(
    (each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION,
  );
  if (operations.length !== 1 || operations[0]?.operation !== 'query')
    return { code: 'HC0012', message: 'The document must hold one query.' };
  let breach: Breach | undefined;
  visit(document, {
    Field({ alias, name }) {
      if (alias !== undefined) breach ??= { code: 'DAF-GQL-0008', message: 'The use of aliases is not allowed.' };
      if (name.value.startsWith('__'))
        breach ??= { code: 'HC0046', message: 'Introspection is not allowed for the current request.' };
    },
  });
  const { length } = operations[0].selectionSet.selections;
  if (length > 1) breach ??= { code: 'DAF-GQL-0010', message: 'Only one root field is allowed in a query.' };
  return breach;
}

/** The rule that the arguments of an entity's root field break. */
export function argumentBreach(
  entity: string,
  { first, where }: Readonly<Record<string, unknown>>,
): Breach | undefined {
  if (typeof first === 'number' && first > MOST_ROWS)
    return { code: 'HC0051', message: `The maximum allowed items per page were exceeded: ${MOST_ROWS}.` };
  if (longestList(where) > MOST_VALUES)
    return { code: 'DAF-GQL-0016', message: `The operator in takes at most ${MOST_VALUES} values.` };
  const { needs = [] } = TABLES[entity] ?? {};
  const named = new Set(fieldsIn(where));
  if (needs.length === 0 || needs.some((field) => named.has(field))) return undefined;
  const sorted = needs.toSorted().join(', ');
  return {
    code: 'DAF-GQL-0009',
    message: `When retrieving data for this entity, a filter on at least one of the following fields must be specified: ${sorted}`,
  };
}

function longestList(value: unknown): number {
  if (Array.isArray(value)) return Math.max(value.length, ...value.map(longestList));
  return isJsonObject(value) ? Math.max(0, ...Object.values(value).map(longestList)) : 0;
}

const fieldsIn = (where: unknown): readonly string[] =>
  isJsonObject(where)
    ? Object.entries(where).flatMap(([field, value]) =>
        field === 'and' && Array.isArray(value) ? value.flatMap(fieldsIn) : [field],
      )
    : [];

export type RowTest = (row: Readonly<Record<string, unknown>>) => boolean;

export function testOf(where: unknown): RowTest {
  if (!isJsonObject(where)) return () => true;
  const tests = Object.entries(where).flatMap(([field, wanted]): readonly RowTest[] => {
    if (field === 'and') return Array.isArray(wanted) ? wanted.map(testOf) : [];
    return isJsonObject(wanted)
      ? Object.entries(wanted).map(([how, value]) => {
          const test = comparison(how, value);
          return (row: Readonly<Record<string, unknown>>) => test(row[field]);
        })
      : [];
  });
  return (row) => tests.every((test) => test(row));
}

function comparison(how: string, wanted: unknown): (value: unknown) => boolean {
  if (how === 'eq') return (value) => String(value) === String(wanted);
  if (how === 'in') {
    const values = new Set(Array.isArray(wanted) ? wanted.map(String) : [String(wanted)]);
    return (value) => values.has(String(value));
  }
  if (how.startsWith('n')) {
    const positive = comparison(how.slice(1), wanted);
    return (value) => !positive(value);
  }
  const order = (value: unknown): number =>
    typeof value === 'number'
      ? value - Number(wanted)
      : String(value) < String(wanted)
        ? -1
        : Number(String(value) > String(wanted));
  return (value) => {
    if (value === null || value === undefined) return false;
    const by = order(value);
    return how === 'gt' ? by > 0 : how === 'gte' ? by >= 0 : how === 'lt' ? by < 0 : by <= 0;
  };
}
