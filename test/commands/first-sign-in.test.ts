/** The first start: the real program prints the link that makes the first operator, and `check` says who may sign in. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { newVisitor } from '../dashboard/visitor.ts';
import { runCli } from '../support/cli.ts';
import { ENTRY, ENVIRONMENT } from '../support/program.ts';
import { newFolder } from '../support/stores.ts';

it('serve prints a link that signs the first operator in, and check fails until an operator exists', async () => {
  const folder = newFolder();
  const file = join(folder, 'cvrsync.json');
  const service = { register: { source: 'file', path: folder } };
  writeFileSync(file, JSON.stringify({ server: { port: 0 }, store: join(folder, 'store.db'), service }));
  const found = async () => (await runCli(['--config', file, 'check', '--all'])).stdout;
  expect(await found()).toContain('none yet: serve prints a link');
  expect(await found()).not.toContain('nobody can sign in');

  const daemon = spawn(process.execPath, [ENTRY, 'serve', '--config', file], {
    cwd: folder,
    env: ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(async () => {
    daemon.kill('SIGKILL');
    await once(daemon, 'exit');
  });
  const { value: line = '' } = await createInterface({ input: daemon.stdout })[Symbol.asyncIterator]().next();
  const [, base = '', path = ''] = /(http:\/\/127\.0\.0\.1:\d+)(\/login\/\S+)$/.exec(line) ?? [];
  expect((await newVisitor(base).get('/')).status).toBe(303);
  expect(await found()).toMatch(/fail\toperators\tthere is none: nobody can sign in/);

  const first = newVisitor(base);
  expect((await first.get(path)).status).toBe(200);
  expect((await first.get('/keys')).status).toBe(200);
  expect((await newVisitor(base).get(path)).status).toBe(401);
  expect(await found()).not.toMatch(/\toperators\t/);
  await runCli(['--config', file, 'operators', 'revoke', 'admin']);
  expect(await found()).toMatch(/fail\toperators\tevery operator is revoked/);
});
