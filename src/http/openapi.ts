/** The OpenAPI document of what this process answers. */
import { errorBody } from '../protocol/api.ts';

const failure = (description: string) => ({
  description,
  content: { 'application/json': { schema: errorBody } },
});

/** The routes that exist: the webhook where there is a connector, and the platform's. */
export function openapiDocument(webhookPath: string | undefined): object {
  const webhook = {
    post: {
      summary: 'Accepts one company event of the monitoring service',
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: {
              type: 'object',
              required: ['entityId', 'timestamp', 'updates'],
              properties: {
                entityId: { type: 'string', description: 'CVR-1-<CVR number> for a company' },
                timestamp: { type: 'string', format: 'date-time', description: 'When the change was registered, UTC' },
                updates: { type: 'object', description: 'One entry per event name, each with `updated`' },
              },
            },
          },
        },
      },
      responses: {
        204: { description: 'The event is on disk, now or from an earlier delivery' },
        400: failure('Not JSON, or not a payload'),
        401: failure('Wrong credentials'),
        413: failure('Over 1 MiB'),
        415: failure('Not JSON'),
        503: failure('A failure of our own; send it again after Retry-After'),
      },
    },
  };
  const platform = {
    '/live': { get: { summary: 'The process runs', responses: { 200: { description: 'Yes' } } } },
    '/ready': {
      get: {
        summary: 'Events can be taken',
        responses: { 200: { description: 'Yes' }, 503: failure('No; the reasons are named') },
      },
    },
    '/metrics': { get: { summary: 'Prometheus metrics', responses: { 200: { description: 'Text format' } } } },
  };
  return {
    openapi: '3.1.0',
    info: { title: 'cvrsync', version: '1' },
    paths: { ...(webhookPath !== undefined && { [webhookPath]: webhook }), ...platform },
  };
}
