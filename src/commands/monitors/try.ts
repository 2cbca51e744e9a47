/** `monitors test`: tests the webhook of a monitor from the command line, under the same guard as the daemon's. */
import { ownAddress } from '../../halves.ts';
import { testMonitor } from '../../operations/service/monitor-test.ts';
import { openTransports } from '../../service/delivery/transport.ts';
import { testMonitor as post } from '../../service/test-webhook/test-monitor.ts';
import { readMonitoredEntity, withService } from '../arguments/with-service.ts';
import { defineCommand, needed, text } from '../cli/command.ts';
import { performHere } from '../operations/operation-command.ts';

export const tryOut = defineCommand({
  name: 'test',
  examples: ['monitors test MONITOR_ID --entity CVR-1-10000001'],
  operation: testMonitor.name,
  about: testMonitor.about,
  args: { id: needed('the id of the monitor, as `monitors list` shows it') },
  options: { entity: text('send the state of this company (default: an invented company)', 'id') },
  run: (context, { id }, { entity: asked }) =>
    withService(context, async (ground) => {
      const config = await context.config(['server', 'service.webhooks', 'connector.webhook.path']);
      const { server, service, connector } = config;
      const { allowPrivateAddresses: allowPrivate = false, allow = [] } = service?.webhooks ?? {};
      const transports = openTransports({ allowPrivate, allow });
      if (connector !== undefined)
        transports.openOwn(`${ownAddress(server.host, server.port)}${connector.webhook.path}`);
      const posting = { ...ground.options, ...transports, ...ground, placeType: service?.placeType ?? 'Place' };
      const deps = {
        ...ground,
        testMonitor: (...[monitor, content]: [Parameters<typeof post>[1], Parameters<typeof post>[2]]) =>
          post(posting, monitor, content, context.signal),
      };
      const entityId = asked === undefined ? undefined : readMonitoredEntity(asked, context.log);
      const input = { id, ...(entityId !== undefined && { entityId }) };
      try {
        const { monitor: _, ...result } = await performHere(testMonitor, input, deps, 'see cvrsync monitors list');
        const { failure, message, answer, took } = result;
        const verdict = failure === null ? message : `The webhook did not take it (${failure}): ${message}`;
        context.output.result(result, `${verdict} ${took} ms.${answer === '' ? '' : `\nIt answered: ${answer}`}`);
        return failure === null ? 0 : 1;
      } finally {
        await transports.close();
      }
    }),
});
