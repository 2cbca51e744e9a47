/** An installed n8n with one workflow behind a webhook, as a process of its own, for the bench of peers. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Takes in a request and does nothing with it. */
const WORKFLOW = {
  id: 'bench',
  name: 'bench',
  active: false,
  nodes: [
    {
      id: 'webhook',
      name: 'Webhook',
      type: 'n8n-nodes-base.webhook',
      typeVersion: 2,
      position: [0, 0],
      webhookId: 'bench',
      parameters: { httpMethod: 'POST', path: 'bench', responseMode: 'onReceived', options: {} },
    },
    {
      id: 'nothing',
      name: 'Nothing',
      type: 'n8n-nodes-base.noOp',
      typeVersion: 1,
      position: [200, 0],
      parameters: {},
    },
  ],
  connections: { Webhook: { main: [[{ node: 'Nothing', type: 'main', index: 0 }]] } },
  settings: {},
};

/** Nothing is asked of its makers, and nothing is kept of what it did. */
const QUIET = {
  N8N_DIAGNOSTICS_ENABLED: 'false',
  N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
  N8N_TEMPLATES_ENABLED: 'false',
  N8N_PERSONALIZATION_ENABLED: 'false',
  N8N_LISTEN_ADDRESS: '127.0.0.1',
  EXECUTIONS_DATA_SAVE_ON_SUCCESS: 'none',
  EXECUTIONS_DATA_SAVE_ON_ERROR: 'none',
  EXECUTIONS_DATA_SAVE_ON_PROGRESS: 'false',
  N8N_LOG_LEVEL: 'error',
};

/** Starts the n8n that npm installed in a folder; resolves once its webhook answers. */
export async function startN8n(installed: string, folder: string) {
  const packaged = join(installed, 'node_modules/n8n');
  const { version }: { version: string } = JSON.parse(await readFile(join(packaged, 'package.json'), 'utf8'));
  const entry = join(packaged, 'bin/n8n');
  const home = join(folder, 'n8n');
  await mkdir(home);
  const port = await freePort();
  const env = { ...process.env, ...QUIET, N8N_USER_FOLDER: home, N8N_PORT: String(port) };
  const file = join(home, 'workflow.json');
  await writeFile(file, JSON.stringify(WORKFLOW));
  await run(process.execPath, [entry, 'import:workflow', `--input=${file}`], { env });
  const publish = Number.parseInt(version, 10) < 2 ? ['update:workflow', '--active=true'] : ['publish:workflow'];
  await run(process.execPath, [entry, ...publish, '--id=bench'], { env });
  const child = spawn(process.execPath, [entry, 'start'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const target = { origin: `http://127.0.0.1:${port}`, path: '/webhook/bench' };
  while (!(await answers(`${target.origin}${target.path}`))) {
    if (child.exitCode !== null) throw new Error(`n8n ended with code ${child.exitCode}`);
    await sleep(200);
  }
  return {
    version,
    target,
    async stop() {
      if (child.exitCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

const answers = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })).ok;
  } catch {
    return false;
  }
};

/** n8n takes no port 0. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port is free');
  return address.port;
}
