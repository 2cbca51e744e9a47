/** Writes answers by the schemas of their routes, each built when an answer first needs it. */
import build from 'fast-json-stringify';
import type { FastifySerializerCompiler } from 'fastify';
import type { TSchema } from 'typebox';

type Serializer = ReturnType<FastifySerializerCompiler<TSchema>>;

/** By schema: routes share some, and a process may have several servers. */
const built = new WeakMap<TSchema, Serializer>();

/** Made at the start for every route and status, they would be an eighth of what the start of a program costs. */
export const serializeLater: FastifySerializerCompiler<TSchema> = ({ schema }) => {
  return (data) => {
    let serializer = built.get(schema);
    if (serializer === undefined) {
      serializer = build(schema);
      built.set(schema, serializer);
    }
    return serializer(data);
  };
};
