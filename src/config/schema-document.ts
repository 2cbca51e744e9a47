/** The configuration as a JSON Schema document, for editors and checks. */
import type { TObject } from 'typebox';
import { BUILT_IN } from '../../providers/index.ts';
import { entrySchema, loadProvider } from './plugins/plugin.ts';
import { configSchema } from './schema/schema.ts';

type Json = Readonly<Record<string, unknown>>;

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A text with a reference stands for any value. */
const REFERENCE = { type: 'string', pattern: '\\$\\{' };
const SCALARS: readonly unknown[] = ['integer', 'number', 'boolean'];

/** The schema of an entry of `connector.providers` for each built-in provider, by its name. */
export async function builtInEntries(): Promise<ReadonlyMap<string, TObject>> {
  const loads = Object.keys(BUILT_IN).map(async (name) => [name, await loadProvider(name, '.')] as const);
  const entries = (await Promise.all(loads)).flatMap(([name, load]) =>
    load.ok ? [[name, entrySchema(load.provider)] as const] : [],
  );
  return new Map(entries);
}

/**
 * The document. It tolerates what the reader does: keys with a default may be absent, `${NAME}` may stand for any
 * value, and a key may end in `_FILE`. `plugins` holds the schemas of entries by their `use:`; entries with any other
 * `use` are open.
 */
export async function schemaDocument(plugins: ReadonlyMap<string, TObject> = new Map()): Promise<Json> {
  const rules = [...(await builtInEntries()), ...plugins].map(([name, schema]) =>
    Object.fromEntries([
      ['if', { properties: { use: { const: name } }, required: ['use'] }],
      ['then', relax(plain(schema))],
    ]),
  );
  const entry = { type: 'object', required: ['use'], properties: { use: { type: 'string' } }, allOf: rules };
  const document = relax(plain(configSchema), { providers: entry });
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'cvrsync configuration', ...document };
}

/** The schema as JSON, without TypeBox's own marks. */
const plain = (schema: TObject): Json => {
  const copy: unknown = JSON.parse(JSON.stringify(schema));
  return isJson(copy) ? copy : {};
};

/** Makes a schema as tolerant as the reader; `records` holds the schemas of record values, by name. */
function relax(schema: Json, records: Json = {}): Json {
  const common = Object.fromEntries(
    Object.entries(schema).filter(([key]) => key === 'description' || key === 'default'),
  );
  if (Array.isArray(schema['anyOf'])) {
    const options: Json[] = schema['anyOf'].filter(isJson).map((option) => relax(option, records));
    return { ...common, anyOf: options };
  }
  if (isJson(schema['properties'])) return { ...common, ...relaxObject(schema, schema['properties'], records) };
  if (isJson(schema['items'])) return { ...schema, items: relax(schema['items'], records) };
  const isFree = schema['type'] === 'string' && schema['pattern'] === undefined;
  if (isFree || !('pattern' in schema || 'enum' in schema || SCALARS.includes(schema['type']))) return schema;
  const { description: _about, default: _default, ...rest } = schema;
  return { ...common, anyOf: [rest, REFERENCE] };
}

function relaxObject(schema: Json, properties: Json, records: Json): Json {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const isNeeded = (name: unknown): boolean => {
    const property = properties[String(name)];
    // A secret may come as NAME_FILE instead; a section whose keys all have defaults may be absent.
    return isJson(property) && !('default' in property) && property['secret'] !== true && !isLeftOut(property);
  };
  const relaxed = Object.entries(properties)
    .filter(([, property]) => isJson(property))
    .map(([name, property]) => {
      const value = records[name];
      const isRecord = isJson(property) && 'patternProperties' in property && isJson(value);
      if (isRecord)
        return [
          name,
          { type: 'object', description: property['description'], minProperties: 1, additionalProperties: value },
        ];
      return [name, relax(isJson(property) ? property : {}, records)];
    });
  return {
    type: 'object',
    required: required.filter(isNeeded),
    properties: Object.fromEntries(relaxed),
    patternProperties: { _FILE$: { type: 'string', description: 'A file that holds the value.' } },
    additionalProperties: schema['additionalProperties'] ?? true,
  };
}

const isLeftOut = (schema: Json): boolean => {
  const { properties, required } = schema;
  if (!isJson(properties)) return false;
  return [required].flat().every((name) => {
    const property = properties[String(name)];
    return !isJson(property) || 'default' in property || isLeftOut(property);
  });
};
