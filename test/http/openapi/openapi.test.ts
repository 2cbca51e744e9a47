import Type from 'typebox';
import { describe, expect, it, onTestFinished } from 'vitest';
import { describeRoutes } from '../../../src/http/openapi/openapi.ts';
import { createServer } from '../../../src/http/server/server.ts';

describe('the OpenAPI document', () => {
  it('asks callers for no parameter that has a default', async () => {
    const server = createServer();
    onTestFinished(() => server.close());
    const document = await describeRoutes(server);
    const querystring = Type.Object({
      take: Type.Integer({ default: 100, description: 'How many' }),
      id: Type.String({ description: 'Which' }),
      token: Type.Optional(Type.String({ description: 'Where' })),
    });
    server.get('/list', { schema: { querystring } }, async (request) => request.query.take);
    await server.ready();
    const parameters = [
      { name: 'take', required: false },
      { name: 'id', required: true },
      { name: 'token', required: false },
    ];
    expect(document()).toMatchObject({ paths: { '/list': { get: { parameters } } } });
  });
});
