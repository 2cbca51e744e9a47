/** A daemon that cannot listen names the settings of the address. */
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { startApp } from '../../../src/app.ts';
import { checked } from '../../support/config.ts';
import { newFolder } from '../../support/stores.ts';

/** Why a daemon with these settings of its listeners does not start. */
async function refusal(listeners: object): Promise<string> {
  const folder = newFolder();
  const service = { register: { source: 'file', path: folder } };
  const { config } = await checked({ server: { port: 0 }, store: join(folder, 'x.db'), service, ...listeners });
  const started = startApp(config, { log: pino({ level: 'silent' }), env: {} });
  return started.then(
    async (app) => {
      await app.close(1_000);
      return 'it starts';
    },
    (error: Error) => error.message,
  );
}

test('a port in use is reported with the setting of each listener', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const address = other.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const taken = `port ${port} of 127.0.0.1 is taken: another program listens there, perhaps cvrsync itself. Stop it, or`;
  expect(await refusal({ server: { port } })).toBe(`${taken} set another server.port`);
  expect(await refusal({ admin: { port } })).toBe(`${taken} set another admin.port`);
  other.close();
});

test('a host of another machine is reported with the setting', async () => {
  expect(await refusal({ server: { host: '192.0.2.1', port: 0 } })).toBe(
    '192.0.2.1 is not an address of this machine: correct server.host',
  );
});
