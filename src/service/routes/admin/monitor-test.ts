/** `POST /admin/api/monitors/{id}/test`: tries the webhook of a monitor as it is set up, also while it is off. */
import Type from 'typebox';
import { HttpError } from '../../../http/server/error.ts';
import type { Server } from '../../../http/server/server.ts';
import { getMonitor } from '../../monitors/monitors.ts';
import { type MonitorTestDeps, testMonitor } from '../../test-webhook/test-monitor.ts';
import { TEST_FAULTS } from '../../test-webhook/test-webhook.ts';
import { EXAMPLE_ID, entityIdText, failure, nullable, plainText, readMonitored, unprocessable } from '../schemas.ts';
import { ADMIN_FAILURES, adminOperation } from './describe.ts';
import { noMonitor } from './monitor-shape.ts';
import type { MonitorRouteDeps } from './monitors.ts';

const schema = {
  ...adminOperation(
    'testMonitor',
    'Tries the webhook of a monitor',
    'Posts one payload with the credentials and signature of the monitor, whether it is on or off, marked by the header `webhook-test: true`. Nothing is counted.',
  ),
  params: Type.Object({ id: plainText('The id of the monitor', { example: EXAMPLE_ID }) }),
  querystring: Type.Object({
    entityId: Type.Optional(
      entityIdText('The company whose current state is sent; left out, that of an invented company is'),
    ),
  }),
  response: {
    200: Type.Object(
      {
        failure: nullable(
          Type.String({
            description: `\`status\` for an answer other than 200 to 299, else why none came: ${TEST_FAULTS.join(', ')}`,
          }),
        ),
        status: nullable(Type.Integer()),
        took: Type.Integer({ description: 'In ms' }),
        message: Type.String(),
        answer: Type.String({ description: 'The first KiB' }),
      },
      { description: 'What came of it; `failure` is null where the webhook took it' },
    ),
    404: failure('There is no such monitor, or nothing is known of the company'),
    422: failure('The monitor has no webhook, or a parameter cannot be read'),
    ...ADMIN_FAILURES,
  },
};

/** Adds the route. */
export function addMonitorTestRoute(scope: Server, deps: MonitorRouteDeps & MonitorTestDeps): void {
  const { store, secrets } = deps;
  scope.post('/admin/api/monitors/:id/test', { schema }, async ({ params: { id }, query: { entityId } }) => {
    const monitor = await getMonitor(store.db, secrets, id);
    if (monitor === undefined) throw noMonitor();
    const entity = entityId === undefined ? undefined : readMonitored(entityId, 'querystring.entityId');
    const test = await testMonitor(deps, monitor, { entity }, new AbortController().signal);
    switch (test.kind) {
      case 'posted':
        return test.result;
      case 'no-webhook':
        throw unprocessable('params.id', 'has no webhook');
      case 'elsewhere':
        throw unprocessable('params.id', 'is the job of a connector that runs in another daemon: ask that one');
      case 'unknown-entity':
        throw new HttpError(404, `Nothing is known of ${entity}.`);
    }
  });
}
