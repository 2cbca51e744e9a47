/** Makes the OpenAPI document of this process from the schemas of its routes. */
import swagger from '@fastify/swagger';
import type { FastifySchema, RouteOptions } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { errorBody } from '../../protocol/api.ts';
import type { Server } from '../server/server.ts';
import { describeWebhooks, type SentNames } from './webhook.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** For the document only: the body of a route that verifies the bytes before it parses them. */
    describedBody?: TSchema;
  }
}

const TAGS = [
  { name: 'monitoring', description: 'Companies to be monitored, by job' },
  { name: 'news', description: 'News made from changes' },
  { name: 'webhook', description: 'Receive events, and test a webhook' },
  { name: 'mail', description: 'Targets of the links in mails' },
  { name: 'admin', description: 'For operators' },
  { name: 'platform', description: 'Health and metrics, for the platform that runs the process' },
];

const INFO = {
  title: 'cvrsync',
  version: '1',
  license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
  description:
    'Changes of companies in the Danish register: monitoring, news, webhooks. Every error has the same body.',
};

/**
 * A query as callers may send it: parameters with a default are optional. The routes' schemas describe the query after
 * the defaults are filled in.
 */
const asSent = (query: unknown): unknown => {
  if (!Type.IsSchema(query) || !Type.IsObject(query)) return query;
  const required = query.required?.filter((name) => !Object.hasOwn(query.properties[name] ?? {}, 'default'));
  return { ...query, required };
};

const failure = (description: string): TSchema => Type.Object(errorBody.properties, { description });

const serverFailures = ({ url, method }: RouteOptions): Readonly<Record<number, TSchema>> => ({
  ...(url.includes(':') && {
    400: failure('The path is not valid'),
    414: failure('Part of the path is longer than 500 characters'),
  }),
  ...(method !== 'GET' && {
    413: failure('The body is too large'),
    415: failure('The content type is malformed or not supported'),
  }),
});

export type OpenApiDocument = Readonly<Record<string, unknown>> & { readonly paths?: Readonly<Record<string, object>> };

/**
 * Collects the schemas of a listener's routes. Call it before the first route is added, and the result once the server
 * is ready.
 */
export async function describeRoutes(server: Server): Promise<() => OpenApiDocument> {
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: INFO,
      tags: TAGS,
      components: {
        securitySchemes: {
          accessKeyQuery: { type: 'apiKey', in: 'query', name: 'accesskey', description: 'The name in any case' },
          accessKeyHeader: { type: 'apiKey', in: 'header', name: 'x-access-key' },
          adminToken: {
            type: 'http',
            scheme: 'bearer',
            description: 'The admin token, as `cvrsync token` prints it, or an API key with the scope `admin`',
          },
        },
      },
    },
    transform: ({ schema, url, route }) => {
      const body = route.config?.describedBody;
      const querystring = asSent(schema?.querystring);
      const described: FastifySchema = {
        ...schema,
        ...(schema?.response !== undefined && { response: { ...serverFailures(route), ...schema.response } }),
        ...(querystring !== undefined && { querystring }),
        ...(body !== undefined && { body }),
      };
      return { schema: described, url };
    },
  });
  return () => Object(server.swagger());
}

export interface Addresses {
  readonly publicUrl: string;
  readonly adminUrl: string;
}

/**
 * Joins the documents of both listeners and of the webhooks. Each path of the admin listener names that listener as its
 * server.
 */
export function joinDocuments(
  open: OpenApiDocument,
  admin: OpenApiDocument,
  { publicUrl, adminUrl }: Addresses,
  names: SentNames,
): OpenApiDocument {
  const servers = [{ url: adminUrl, description: 'The admin listener' }];
  const adminPaths = Object.entries(admin.paths ?? {}).map(([path, item]) => [path, { servers, ...item }]);
  return {
    ...open,
    servers: [{ url: publicUrl, description: 'The public listener' }],
    paths: { ...open.paths, ...Object.fromEntries(adminPaths) },
    webhooks: describeWebhooks(names),
  };
}
