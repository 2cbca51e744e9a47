/** A real nginx on the shipped configuration: only names and ports are those of this machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, untilListening } from './ports.ts';

export interface Nginx {
  readonly publicUrl: string;
  readonly adminUrl: string;
  stop(): Promise<void>;
}

/** Where a daemon of the file is on this machine: `cvrsync-1:8080` is at a port of loopback. */
export type Places = ReadonlyMap<string, number>;

/**
 * The file for this machine. `resolve` and its resolver go: they ask the names of Docker, and nginx has them from 1.27.3 on.
 */
function forThisMachine(shipped: string, places: Places, ports: Readonly<Record<string, number>>): string {
  return shipped
    .replace(/^resolver .*$/mu, '')
    .replaceAll(/server (cvrsync-\d:\d+) resolve/gu, (_, place: string) => `server 127.0.0.1:${places.get(place)}`)
    .replaceAll(/listen (\d+);/gu, (_, port: string) => `listen 127.0.0.1:${ports[port]};`);
}

/** Starts nginx in the foreground, in a folder of its own. */
export async function startNginx(folder: string, shipped: string, places: Places): Promise<Nginx> {
  const ports = { 8080: await freePort(), 8081: await freePort() };
  mkdirSync(folder, { recursive: true });
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder};`);
  const file = join(folder, 'nginx.conf');
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  writeFileSync(
    file,
    `${user} worker_processes 1; daemon off; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 512; }
http {
access_log off; ${temporary.join(' ')}
${forThisMachine(shipped, places, ports)}
}`,
  );
  const nginx = spawn('nginx', ['-p', folder, '-c', file], { stdio: ['ignore', 'inherit', 'inherit'] });
  await untilListening(ports[8080]);
  return {
    publicUrl: `http://127.0.0.1:${ports[8080]}`,
    adminUrl: `http://127.0.0.1:${ports[8081]}`,
    async stop() {
      if (nginx.exitCode !== null) return;
      const ended = once(nginx, 'exit');
      nginx.kill('SIGTERM');
      await ended;
    },
  };
}
