/** The configuration as a JSON Schema document, for editors and checks. */
import type { TObject } from 'typebox';
import { BUILT_IN } from '../../providers/index.ts';
import { entrySchema, loadProvider } from './plugins/plugin.ts';
import { configSchema } from './schema/schema.ts';

type Json = Readonly<Record<string, unknown>>;

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A string with a reference may replace any value. */
const REFERENCE = { type: 'string', pattern: '\\$\\{' };
const SCALARS: readonly unknown[] = ['integer', 'number', 'boolean'];

export async function builtInEntries(): Promise<ReadonlyMap<string, TObject>> {
  const loads = Object.keys(BUILT_IN).map(async (name) => [name, await loadProvider(name, '.')] as const);
  const entries = (await Promise.all(loads)).flatMap(([name, load]) =>
    load.ok ? [[name, entrySchema(load.provider)] as const] : [],
  );
  return new Map(entries);
}

/**
 * The document. It tolerates what the reader does: keys with a default may be absent, `${NAME}` may stand for any
 * value, and a key may end in `_FILE`. `plugins`: the schemas of entries by their `use:`; entries with any other `use`
 * are open.
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
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'cvrsync configuration',
    ...shared(document),
  };
}

/** A reference does not replace these: they may differ in otherwise equal schemas. */
const ANNOTATIONS = ['description', 'default', 'examples'];
/** A shorter schema is not worth a reference. */
const SHARED_FROM = 60;

/** Moves repeated schemas into `$defs`, which makes the document twenty times smaller. */
function shared(document: Json): Json {
  const counts = new Map<string, number>();
  const count = (schema: Json): Json => {
    const core = JSON.stringify(split(schema).core);
    counts.set(core, (counts.get(core) ?? 0) + 1);
    if (counts.get(core) === 1) mapParts(schema, count);
    return schema;
  };
  count(document);
  const often = [...counts].filter(([core, times]) => times > 1 && core.length >= SHARED_FROM);
  const names = new Map(often.map(([core], index) => [core, `part${index + 1}`]));
  const refer = (schema: Json): Json => {
    const { core, annotations } = split(schema);
    const name = names.get(JSON.stringify(core));
    return { ...annotations, ...(name === undefined ? mapParts(core, refer) : { $ref: `#/$defs/${name}` }) };
  };
  const definitions = [...names].map(([core, name]) => [name, mapParts(parsed(core), refer)] as const);
  return { ...mapParts(document, refer), $defs: Object.fromEntries(definitions) };
}

function split(schema: Json): { readonly core: Json; readonly annotations: Json } {
  const isNote = ([key]: readonly [string, unknown]): boolean => ANNOTATIONS.includes(key);
  const entries = Object.entries(schema);
  return {
    core: Object.fromEntries(entries.filter((entry) => !isNote(entry))),
    annotations: Object.fromEntries(entries.filter(isNote)),
  };
}

/** The keys of a schema that hold schemas: one, a list, or one for each name. */
const PARTS: ReadonlyMap<string, 'one' | 'many' | 'named'> = new Map([
  ...['items', 'additionalProperties', 'if', 'then'].map((key) => [key, 'one'] as const),
  ...['anyOf', 'allOf'].map((key) => [key, 'many'] as const),
  ...['properties', 'patternProperties'].map((key) => [key, 'named'] as const),
]);

function mapParts(schema: Json, map: (part: Json) => Json): Json {
  const mapped = (value: unknown): unknown => (isJson(value) ? map(value) : value);
  const entries = Object.entries(schema).map(([key, value]) => {
    const kind = PARTS.get(key);
    if (kind === 'one') return [key, mapped(value)];
    if (kind === 'many' && Array.isArray(value)) return [key, value.map(mapped)];
    if (kind === 'named' && isJson(value))
      return [key, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, mapped(each)]))];
    return [key, value];
  });
  return Object.fromEntries(entries);
}

/** The schema as JSON, without TypeBox's own marks. */
const plain = (schema: TObject): Json => parsed(JSON.stringify(schema));

function parsed(text: string): Json {
  const value: unknown = JSON.parse(text);
  return isJson(value) ? value : {};
}

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
  const { description: _about, default: _default, secret: _secret, ...rest } = schema;
  if (isFree || !('pattern' in schema || 'enum' in schema || SCALARS.includes(schema['type'])))
    return { ...common, ...rest };
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
  const needed = required.filter(isNeeded);
  return {
    type: 'object',
    ...(needed.length > 0 && { required: needed }),
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
