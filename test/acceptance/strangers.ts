/** Real proxies before the admin listener: through each a stranger is nobody, and the daemon knows the stranger's address. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Daemon } from './daemons.ts';
import { freePort, untilListening } from './ports.ts';
import { isInstalled } from './prometheus.ts';
import type { Outcome } from './trial.ts';

interface Kind {
  readonly name: string;
  readonly program: string;
  /** Whether it says for whom it asks; a forwarder of TCP cannot. */
  readonly namesClient: boolean;
  readonly text: (port: number, to: number, folder: string) => string;
  readonly args: (file: string, folder: string) => readonly string[];
}

const nginx = (lines: string) => (port: number, to: number, folder: string) =>
  `worker_processes 1; daemon off; pid ${folder}/pid; error_log ${folder}/error.log;
events {} http { access_log off; proxy_temp_path ${folder}; client_body_temp_path ${folder}; fastcgi_temp_path ${folder};
uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${to}; ${lines} } } }`;

const MODULES = ['mpm_event', 'authz_core', 'proxy', 'proxy_http'];
const TIMES = 'timeout connect 5s\n  timeout client 30s\n  timeout server 30s';

const KINDS: readonly Kind[] = [
  {
    name: 'nginx with its default headers',
    program: 'nginx',
    namesClient: false,
    text: nginx(''),
    args: (file, folder) => ['-p', folder, '-c', file],
  },
  {
    name: 'nginx that keeps Host and says https',
    program: 'nginx',
    namesClient: true,
    text: nginx(
      'proxy_set_header Host localhost; proxy_set_header X-Forwarded-Proto https; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;',
    ),
    args: (file, folder) => ['-p', folder, '-c', file],
  },
  {
    name: 'haproxy that forwards TCP',
    program: 'haproxy',
    namesClient: false,
    text: (port, to) =>
      `defaults\n  mode tcp\n  ${TIMES}\nlisten a\n  bind 127.0.0.1:${port}\n  server d 127.0.0.1:${to}\n`,
    args: (file) => ['-f', file],
  },
  {
    name: 'haproxy with forwardfor',
    program: 'haproxy',
    namesClient: true,
    text: (port, to) =>
      `defaults\n  mode http\n  option forwardfor\n  ${TIMES}\nlisten a\n  bind 127.0.0.1:${port}\n  server d 127.0.0.1:${to}\n`,
    args: (file) => ['-f', file],
  },
  {
    name: 'Caddy',
    program: 'caddy',
    namesClient: true,
    text: (port, to) => `{\n\tadmin off\n}\nhttp://127.0.0.1:${port} {\n\treverse_proxy 127.0.0.1:${to}\n}\n`,
    args: (file) => ['run', '--config', file, '--adapter', 'caddyfile'],
  },
  {
    name: 'Apache',
    program: 'apache2',
    namesClient: true,
    text: (port, to, folder) =>
      `${MODULES.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
ServerName localhost\nServerRoot ${folder}\nPidFile ${folder}/pid\nErrorLog ${folder}/error.log\nListen 127.0.0.1:${port}
User nobody\nGroup nogroup\nProxyPass / http://127.0.0.1:${to}/\n`,
    args: (file) => ['-X', '-f', file],
  },
];

interface Asked {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  readonly status: number;
}

const ASKED: readonly Asked[] = [
  { method: 'GET', path: '/inbox', status: 303 },
  { method: 'GET', path: '/metrics', status: 401 },
  { method: 'POST', path: '/holds/end', body: 'all=1', status: 401 },
  { method: 'POST', path: '/login', body: 'token=a-token-that-nobody-has', status: 401 },
];

/** Asks from another address of this machine, as somebody beyond the proxy. */
async function ask(port: number, localAddress: string, { method, path, body = '' }: Asked): Promise<number> {
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': body.length,
    'sec-fetch-site': 'same-origin',
  };
  const sent = request({ host: '127.0.0.1', port, method, path, headers, localAddress }).end(body);
  const [answer] = await once(sent, 'response');
  answer.resume();
  await once(answer, 'end');
  return answer.statusCode;
}

/** Tries every kind before a daemon that trusts this machine as a proxy. */
export async function tryStrangers(daemon: Daemon, folder: string, cell: string): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const [at, kind] of KINDS.entries()) {
    const outcome = { cell, what: `a stranger through ${kind.name}`, over: '', lines: 0 };
    if (!isInstalled(kind.program)) {
      outcomes.push({ ...outcome, told: `not tried: ${kind.program} is not installed`, wrong: [] });
      continue;
    }
    const own = join(folder, kind.name.replaceAll(' ', '-'));
    mkdirSync(own, { recursive: true });
    const port = await freePort();
    writeFileSync(join(own, 'conf'), kind.text(port, daemon.adminPort, own));
    const proxy = spawn(kind.program, kind.args(join(own, 'conf'), own), {
      stdio: 'ignore',
      env: { ...process.env, HOME: own },
    });
    try {
      await untilListening(port);
      outcomes.push({ ...outcome, ...(await tryKind(kind, daemon, { port, stranger: `127.0.0.${at + 10}` })) });
    } finally {
      await end(proxy);
    }
  }
  return outcomes;
}

async function tryKind({ namesClient }: Kind, daemon: Daemon, { port, stranger }: { port: number; stranger: string }) {
  const answers: number[] = [];
  for (const asked of ASKED) answers.push(await ask(port, stranger, asked));
  const isCounted = () =>
    daemon.tail.some((line) => line.includes('a sign-in failed') && line.includes(`"${stranger}"`));
  for (let round = 0; namesClient && round < 40 && !isCounted(); round += 1) await sleep(50);
  const wrong = [
    ...ASKED.flatMap(({ method, path, status }, at) =>
      answers[at] === status ? [] : [`${method} ${path} answers ${answers[at]}`],
    ),
    ...(isCounted() === namesClient ? [] : ['the failed sign-in counts for another client']),
  ];
  return { told: `answers ${answers.join(' ')}${namesClient ? ', and is counted' : ''}`, wrong };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
