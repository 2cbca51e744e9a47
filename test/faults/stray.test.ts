/** An error of a plugin that nothing catches ends the process, and a person can see why. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { daemonWith } from '../support/daemon.ts';
import { newFolder, newStoreUrl } from '../support/stores.ts';

const TYPEBOX = JSON.stringify(import.meta.resolve('typebox'));

/** A plugin that throws in this way when it is sent SIGUSR2. */
async function pluginThat(strays: string): Promise<string> {
  const file = join(newFolder(), 'stray.mjs');
  await writeFile(
    file,
    `import Type from ${TYPEBOX};
     import { EventEmitter } from 'node:events';
     const fail = () => { throw new TypeError('boom of my-secret-token'); };
     process.once('SIGUSR2', () => { ${strays} });
     export const crm = {
       name: 'stray', contract: '2.0.0', about: 'x', preset: [],
       settings: Type.Object({ token: Type.String({ secret: true }) }, { additionalProperties: false }),
       limits: () => ({ batch: { read: 1, update: 1 }, concurrency: 1, budgets: { default: { calls: 9, perMs: 1000 } } }),
       connect: async () => ({
         check: async () => ({ id: '1', name: 'One', notes: [] }),
         properties: async () => [], read: async () => [], update: async () => [], scan: async () => ({ records: [] }),
       }),
     };`,
  );
  return file;
}

const configFor = (use: string, store: string) => ({
  server: { port: 0 },
  store,
  connector: {
    webhook: { auth: { method: 'None' } },
    providers: { crm: { use, token: 'my-secret-token', pollMinutes: 0, reconcileHours: 0 } },
  },
});

test.each([
  ['throws in a timer', 'setTimeout(fail, 1)', 'boom of ***'],
  ['leaves a rejection alone', 'void (async () => fail())()', 'boom of ***'],
  [
    'ends the process in a timer',
    'setTimeout(() => process.exit(0), 1)',
    'process.exit(0) was called, which only cvrsync itself may do',
  ],
  ['has an emitter whose error nobody takes', "new EventEmitter().emit('error', new Error('cut off'))", 'cut off'],
])('a plugin that %s is named in the log, and the daemon ends in order with exit code 1', async (_, how, boom) => {
  const use = await pluginThat(how);
  const daemon = await daemonWith(configFor(use, await newStoreUrl('sqlite')));
  await daemon.start();
  expect(await daemon.kill('SIGUSR2')).toEqual({ code: 1, signal: null });
  // Every line is of the log: none is a bare stack.
  const lines = daemon.log.map((line): { level: string; msg: string; plugin?: string; advice?: string } =>
    JSON.parse(line),
  );
  const fatal = lines.filter(({ level }) => level === 'fatal');
  expect(fatal).toEqual([
    expect.objectContaining({
      msg: `the provider plugin ${use} threw outside of any call, so that this process ends: ${boom}`,
      plugin: use,
      advice: expect.stringContaining('report it to the author'),
    }),
  ]);
  expect(lines.slice(-2).map(({ msg }) => msg)).toEqual(['stopping', 'stopped']);
  expect(daemon.log.join('\n')).not.toContain('my-secret-token');
});

test.each([
  ['nothing', 'void Promise.reject(null)', 'null'],
  [
    'an error that throws when it is read',
    "void Promise.reject(Object.defineProperties(new Error('x'), { message: { get: fail }, stack: { get: fail } }))",
    '[object Error]',
  ],
])('after %s is thrown unhandled, the log lists the plugins as a possible cause', async (_, how, seen) => {
  const use = await pluginThat(how);
  const daemon = await daemonWith(configFor(use, await newStoreUrl('sqlite')));
  await daemon.start();
  expect(await daemon.kill('SIGUSR2')).toEqual({ code: 1, signal: null });
  const fatal = daemon.log.find((line) => line.includes('"level":"fatal"')) ?? '';
  expect(fatal).toContain(`cvrsync, or a package that it uses, threw outside of any call`);
  expect(fatal).toContain(seen);
  expect(fatal).toContain(`first try without ${use}`);
});
