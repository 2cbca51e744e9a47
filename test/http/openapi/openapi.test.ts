import Type from 'typebox';
import { describe, expect, it, onTestFinished } from 'vitest';
import { describeRoutes } from '../../../src/http/openapi/openapi.ts';
import { createServer } from '../../../src/http/server/server.ts';

describe('the OpenAPI document', () => {
  it('requires no parameter that has a default', async () => {
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

  it('lists what the server answers before a route runs, in the words of the route if it has some', async () => {
    const server = createServer();
    onTestFinished(() => server.close());
    const document = await describeRoutes(server);
    const own = Type.Object({}, { description: 'Over 1 MiB' });
    server.get('/list', async () => 'all');
    server.post('/list/:id/items', { schema: { response: { 413: own } } }, async () => 'done');
    await server.ready();
    const { paths = {} } = document();
    const responsesOf = (path: string, method: string) => Object(paths[path])[method].responses;
    expect(Object.keys(responsesOf('/list', 'get'))).toEqual(['200']);
    const responses = responsesOf('/list/{id}/items', 'post');
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['400', '413', '414', '415']));
    expect(responses['413'].description).toBe('Over 1 MiB');
  });
});
