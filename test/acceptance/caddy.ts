/** A real Caddy on the shipped configuration, for this machine: with a certificate of its internal authority. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, untilListening } from './ports.ts';

export interface Caddy {
  readonly port: number;
  /** The certificate of the authority that signed the one of the daemons. */
  readonly authority: string;
  stop(): Promise<void>;
}

/** Starts Caddy before daemons at these ports of this machine. */
export async function startCaddy(folder: string, shipped: string, daemons: readonly number[]): Promise<Caddy> {
  const [port, plain] = [await freePort(), await freePort()];
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'Caddyfile');
  const ports = `\thttp_port ${plain}\n\thttps_port ${port}\n\tskip_install_trust\n`;
  writeFileSync(file, shipped.replace('\tadmin off\n', `\tadmin off\n${ports}`));
  const caddy = spawn('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], {
    stdio: ['ignore', 'ignore', 'ignore'],
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
      CVRSYNC_HOST: 'localhost',
      CVRSYNC_DAEMONS: daemons.map((daemon) => `127.0.0.1:${daemon}`).join(' '),
    },
  });
  await untilListening(port);
  const root = join(folder, 'caddy/pki/authorities/local/root.crt');
  while (!existsSync(root)) await sleep(50);
  return {
    port,
    authority: readFileSync(root, 'utf8'),
    async stop() {
      if (caddy.exitCode !== null) return;
      const ended = once(caddy, 'exit');
      caddy.kill('SIGTERM');
      await ended;
    },
  };
}
