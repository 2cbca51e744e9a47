import Type, { type TSchema } from 'typebox';

/** The schemas that a value may have. */
export const variantsOf = (schema: TSchema): readonly TSchema[] =>
  Type.IsUnion(schema) ? schema.anyOf.flatMap(variantsOf) : [schema];

export function childrenOf(schema: TSchema, key: string): readonly TSchema[] {
  if (Type.IsObject(schema)) return [schema.properties[key] ?? []].flat();
  return Type.IsRecord(schema) ? [Type.RecordValue(schema)] : [];
}

/** Every name of a key and every fixed value in a schema. */
export function wordsIn(schema: TSchema): readonly string[] {
  if (Type.IsObject(schema))
    return Object.entries<TSchema>(schema.properties).flatMap(([name, each]) => [name, ...wordsIn(each)]);
  if (Type.IsRecord(schema)) return wordsIn(Type.RecordValue(schema));
  if (Type.IsArray(schema)) return wordsIn(schema.items);
  if (Type.IsUnion(schema)) return schema.anyOf.flatMap(wordsIn);
  return Type.IsLiteral(schema) ? [String(schema.const)] : [];
}
