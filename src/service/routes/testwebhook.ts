/** `POST /apps/monitoring/testwebhook`: tests any webhook with an example payload. */
import Type from 'typebox';
import { HttpError } from '../../http/server/error.ts';
import type { Server } from '../../http/server/server.ts';
import { createSharedCallLimit } from '../../http/server/shared-call-limit.ts';
import { TEST_WEBHOOK_PATH } from '../../protocol/api.ts';
import type { Store } from '../../store/store.ts';
import { webhookAt } from '../delivery/post.ts';
import type { Security } from '../monitors/monitor.ts';
import { checkUrl } from '../monitors/monitor-input.ts';
import { TEST_FAULTS, type TestDeps, type TestResult, testPayload, testWebhook } from '../test-webhook/test-webhook.ts';
import type { Access } from './access.ts';
import { foldQueryNames, readRequests } from './requests.ts';
import { entityIdText, failure, KEY_FAILURES, KEY_SECURITY, nothing, readMonitored, unprocessable } from './schemas.ts';

export interface TestWebhookRouteDeps extends TestDeps {
  readonly store: Store;
  readonly access: Pick<Access, 'guard' | 'caller'>;
  readonly placeType: string;
}

const TESTS = 10;
const OPEN: Security = { credentials: { method: 'None' }, secrets: [] };

const querystring = Type.Object({
  url: Type.String({
    minLength: 1,
    maxLength: 2_048,
    description: 'The address of the webhook, http or https; it must be reachable over the internet',
    examples: ['https://hooks.example.com/cvr'],
  }),
  entityId: Type.Optional(
    entityIdText('The company whose current state is sent; left out, that of an invented company is'),
  ),
});

/** Adds the route in its own scope. It checks for a key with the scope `testwebhook` first. */
export function addTestWebhookRoutes(server: Server, deps: TestWebhookRouteDeps): void {
  server.register(async (scope) => {
    readRequests(scope);
    scope.addHook('onRequest', deps.access.guard('testwebhook'));
    foldQueryNames(scope, ['url', 'entityId']);
    addRoute(scope, deps);
  });
}

const schema = {
  tags: ['monitoring'],
  security: KEY_SECURITY,
  operationId: 'testWebhook',
  summary: 'Sends an example payload to a webhook and reports the outcome',
  description: `Posts the whole state of a company, with its newest report, as one payload, marked by the header \`webhook-test: true\`, without credentials and unsigned. Waits 5 s for a connection and 15 s in all, follows no redirect, and tries once. Addresses that are not public are refused. A key may test ${TESTS} times a minute. The names of the parameters may be in any case; each is given once.`,
  querystring,
  response: {
    204: nothing('The webhook handled the notification: it answered 200 to 299'),
    ...KEY_FAILURES,
    404: failure('The company is not known'),
    422: failure('A parameter is missing, given twice, or cannot be read, or the address is not a public one'),
    502: failure(
      `The webhook did not handle the notification. \`errors\` has the entry \`failure\` (${TEST_FAULTS.filter((fault) => fault !== 'address').join(', ')}, or status for an answer other than 200 to 299), and with an answer \`status\` and \`answer\`, its first KiB`,
    ),
  },
};

function addRoute(scope: Server, deps: TestWebhookRouteDeps): void {
  const { store, access, now } = deps;
  const count = counter(deps);
  scope.post(TEST_WEBHOOK_PATH, { schema }, async (request, reply) => {
    const { url, entityId } = request.query;
    const [issue] = checkUrl(url);
    if (issue !== undefined) throw unprocessable('querystring.url', issue.message);
    const entity = entityId === undefined ? undefined : readMonitored(entityId, 'querystring.entityId');
    await count(access.caller(request).keyId);
    const payload = await testPayload(store.db, entity, { ...deps, now: now() });
    if (payload === undefined) throw new HttpError(404, `Nothing is known of ${entity}.`);
    const result = await testWebhook(deps, webhookAt(url, OPEN), payload, new AbortController().signal);
    if (result.failure !== null) throw failed(result, result.failure);
    return reply.code(204).send(null);
  });
}

function failed({ status, message, answer, took }: TestResult, failure: string): HttpError {
  const parts = { failure, ...(status !== null && { status: String(status), answer }), took: `${took} ms` };
  const errors = Object.entries(parts).map(([path, message]) => ({ path, message }));
  if (failure === 'address')
    return new HttpError(422, `The webhook was not called (address): ${message}.`, {
      errors: [{ path: 'querystring.url', message: 'is not a public address' }, ...errors],
    });
  const said = answer === '' ? '' : `: ${answer}`;
  return new HttpError(502, `The webhook did not handle the payload (${failure}): ${message}${said}`, { errors });
}

function counter({ store, now }: Pick<TestWebhookRouteDeps, 'store' | 'now'>): (key: string) => Promise<void> {
  const window = createSharedCallLimit({ store, name: 'test', limit: TESTS, now });
  return async (key) => {
    const retryAfter = await window(key);
    if (retryAfter === undefined) return;
    throw new HttpError(429, `A key may test a webhook ${TESTS} times a minute: come again in ${retryAfter} s.`, {
      retryAfter,
    });
  };
}
