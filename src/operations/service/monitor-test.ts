/** Tests a monitor's webhook, even if the monitor is disabled. */
import Type from 'typebox';
import { readPayload } from '../../protocol/payload.ts';
import { readJson } from '../../protocol/text/json.ts';
import type { Monitor } from '../../service/monitors/monitor.ts';
import type { MonitorOptions } from '../../service/monitors/monitor-input.ts';
import { getMonitor } from '../../service/monitors/monitors.ts';
import { entityIdText, nullable } from '../../service/routes/schemas.ts';
import type { MonitorTest, TestContent } from '../../service/test-webhook/test-monitor.ts';
import { TEST_FAULTS } from '../../service/test-webhook/test-webhook.ts';
import { readListed } from '../definition/entities.ts';
import { defineOperation, invalid, Refused, unknown } from '../definition/operation.ts';
import { type MonitorNeeds, monitorId } from './monitors.ts';

export interface TestNeeds extends MonitorNeeds {
  readonly testMonitor: (monitor: Monitor, content: TestContent) => Promise<MonitorTest>;
}

export const testMonitor = defineOperation({
  name: 'monitor.test',
  role: 'admin',
  about: 'post an example payload to the webhook of a monitor, whether the monitor is on or off',
  more: 'Posts one payload with the credentials and signature of the monitor, marked by the header `webhook-test: true`. Nothing is counted.',
  input: Type.Object({
    id: monitorId,
    entityId: Type.Optional(
      entityIdText('The company whose current state is sent; that of an invented company if absent'),
    ),
    payload: Type.Optional(Type.String({ description: 'The payload to send, in place of a state' })),
  }),
  api: {
    method: 'POST',
    path: '/monitors/:id/test',
    operationId: 'testMonitor',
    status: 200,
    answer: Type.Object(
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
      { description: 'The result; `failure` is null if the webhook took it' },
    ),
    hasQuery: true,
    leavesOut: ['payload'],
    refusals: {
      404: 'There is no such monitor, or nothing is known of the company',
      422: 'The monitor has no webhook, or a parameter cannot be read',
    },
  },
  async read(db, { id, entityId, payload: body }, { secrets, options, testMonitor: post }: TestNeeds) {
    const monitor = await getMonitor(db, secrets, id);
    if (monitor === undefined) throw unknown('monitor');
    const problem = body === undefined ? undefined : problemOf(body, options);
    if (problem !== undefined) throw invalid('/payload', problem);
    const entity = entityId === undefined ? undefined : readListed(entityId, '/entityId');
    const test = await post(monitor, { entity, body });
    if (test.kind !== 'posted') throw notPosted(test.kind, entity);
    const { failure, message } = test.result;
    const result = failure === null ? message : `${failure}: ${message}`.slice(0, 500);
    const detail = { name: monitor.name, ...(body !== undefined && { payload: 'written by hand' }) };
    return { value: { monitor, ...test.result }, audit: { subject: id, detail, result } };
  },
  view: ({ monitor: _, ...result }) => result,
});

function notPosted(code: Exclude<MonitorTest['kind'], 'posted'>, entity: string | undefined): Refused {
  if (code === 'unknown-entity') return new Refused('unknown', `nothing is known of ${entity}`, { code });
  const message =
    code === 'no-webhook'
      ? 'has no webhook'
      : 'is the job of a connector that runs with another configuration: use that one';
  return new Refused('invalid', 'the webhook cannot be tried', { code, issues: [{ path: '/id', message }] });
}

/** Why a receiver could not read a payload; undefined if it can. */
function problemOf(payload: string, options: MonitorOptions): string | undefined {
  const json = readJson(Buffer.from(payload));
  if (!json.ok) return json.reason;
  const read = readPayload(json.value, options);
  return read.ok ? undefined : read.errors.map(({ path, message }) => `${path} ${message}`).join('; ');
}
