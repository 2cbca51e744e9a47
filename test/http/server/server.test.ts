import Type from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpError } from '../../../src/http/server/error.ts';
import { answerOn, createServer, type Server } from '../../../src/http/server/server.ts';

const logged: { detail: object; message: string }[] = [];
let app: Server;

beforeAll(async () => {
  const keep = (detail: object, message: string): void => void logged.push({ detail, message });
  app = createServer({ log: { error: keep, warn: keep } });
  app.get('/broken', async () => {
    throw new Error('the password is hunter2');
  });
  app.get('/busy', async () => {
    throw new HttpError(429, 'Too many calls.', { retryAfter: 1.2 });
  });
  app.post('/companies', async (request) => request.body);
  app.get(
    '/items/:job',
    {
      schema: {
        params: Type.Object({ job: Type.String() }),
        querystring: Type.Object(
          {
            take: Type.Integer({ minimum: 1, default: 25 }),
            all: Type.Optional(Type.Boolean()),
            entityId: Type.String(),
          },
          { additionalProperties: false },
        ),
      },
    },
    async ({ query, params }) => ({ ...query, ...params, next: query.take + 1 }),
  );
  await app.ready();
});
afterAll(() => app.close());

const body = (status: number, errorCode = status) => ({
  errorMessage: expect.any(String),
  httpStatusCode: status,
  errorCode,
});

describe('the error body', () => {
  it.each([
    ['an unknown path', { method: 'GET', url: '/nothing' }, 404],
    ['a path that cannot be decoded', { method: 'GET', url: '/items/%ZZ' }, 400],
    ['a method that is not there', { method: 'DELETE', url: '/companies' }, 405],
    [
      'another content type',
      { method: 'POST', url: '/companies', headers: { 'content-type': 'text/csv' }, payload: 'a' },
      415,
    ],
    [
      'bad JSON',
      { method: 'POST', url: '/companies', headers: { 'content-type': 'application/json' }, payload: '{' },
      400,
    ],
    [
      'an empty JSON body',
      { method: 'POST', url: '/companies', headers: { 'content-type': 'application/json' }, payload: '' },
      400,
    ],
    ['a failure of ours', { method: 'GET', url: '/broken' }, 500],
  ] as const)('is the answer to %s', async (_what, request, status) => {
    const answer = await app.inject({ ...request });
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toEqual(body(status));
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
  });

  it('carries code 26 and the whole seconds to wait when there were too many calls', async () => {
    const answer = await app.inject('/busy');
    expect(answer.json()).toEqual({ errorMessage: 'Too many calls.', httpStatusCode: 429, errorCode: 26 });
    expect(answer.headers['retry-after']).toBe('2');
  });

  it('names the methods of a path', async () => {
    const answer = await app.inject('/companies');
    expect(answer.headers['allow']).toBe('POST');
  });

  it('leaves the details of an internal error to the log, which has no query', async () => {
    logged.length = 0;
    const answer = await app.inject('/broken?accesskey=sesame');
    expect(answer.body).not.toContain('hunter2');
    expect(logged).toEqual([
      {
        message: 'request failed',
        detail: {
          err: expect.objectContaining({ message: 'the password is hunter2' }),
          method: 'GET',
          route: '/broken',
        },
      },
    ]);
    expect(JSON.stringify(logged)).not.toContain('sesame');
  });

  it('survives __proto__ in a body', async () => {
    const headers = { 'content-type': 'application/json' };
    const answer = await app.inject({
      method: 'POST',
      url: '/companies',
      headers,
      payload: '{"__proto__":{"admin":true}}',
    });
    expect(answer.statusCode).toBe(400);
    expect(Object.hasOwn(Object.prototype, 'admin')).toBe(false);
  });
});

describe('a schema', () => {
  it('turns texts of the query into numbers and flags and fills in defaults', async () => {
    const answer = await app.inject('/items/7?entityId=CVR-1-1&all=true');
    expect(answer.json()).toEqual({ take: 25, all: true, entityId: 'CVR-1-1', job: '7', next: 26 });
  });

  it('accepts an empty text for a value that may be absent, and for no other', async () => {
    const answer = await app.inject('/items/7?entityId=CVR-1-1&take=&all=');
    const absent = await app.inject('/items/7?entityId=CVR-1-1');
    expect(answer.json()).toEqual(absent.json());
    expect((await app.inject('/items/7?entityId=')).json()).toMatchObject({ entityId: '' });
  });

  it('names every problem with its path', async () => {
    const answer = await app.inject('/items/7?take=many&colour=red');
    expect(answer.statusCode).toBe(400);
    const { errors } = answer.json<{ errors: { path: string; message: string }[] }>();
    expect(errors.map(({ path }) => path).sort()).toEqual([
      'querystring.colour',
      'querystring.entityId',
      'querystring.take',
    ]);
  });
});

it('a server answers with the routes of the server that follows it, on every address of localhost', async () => {
  const [listening, next] = [createServer({}), createServer({})];
  next.get('/which', async () => 'the next');
  await answerOn(listening, next);
  expect((await listening.inject('/which')).body).toBe('the next');
  await Promise.all([listening.close(), next.close()]);
});
