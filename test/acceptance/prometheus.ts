/** A real Prometheus on the shipped rules and scrape file: only the targets, the token's file and its times are those of this machine. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import type { Clock } from './clock.ts';
import { freePort, untilListening } from './ports.ts';
import { DEPLOY } from './shipped.ts';

export interface Firing {
  readonly name: string;
  /** In the time of the daemons. */
  readonly from: number;
  /** Undefined while it fires. */
  to: number | undefined;
}

export interface Prometheus {
  /** Every time that an alert fired, oldest first. */
  readonly firings: readonly Firing[];
  stop(): Promise<void>;
}

export interface Watching {
  readonly folder: string;
  readonly clock: Clock;
  /** Admin listeners. */
  readonly targets: readonly string[];
  readonly token: string;
}

export const isInstalled = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const LOOK_MS = 500;

/** The file with every length of time divided: `for:`, windows and offsets. */
export function scaledRules(rules: string, scale: number): string {
  const shorter = (text: string) =>
    text.replace(/^(\d+)([smhd])$/u, (_, count: string, unit: string) => {
      return `${Math.round((Number(count) * (UNITS[unit] ?? 1)) / scale)}ms`;
    });
  return rules
    .replaceAll(/\[(\d+[smhd])\]/gu, (_, time: string) => `[${shorter(time)}]`)
    .replaceAll(/\boffset (\d+[smhd])\b/gu, (_, time: string) => `offset ${shorter(time)}`)
    .replaceAll(/^(\s*for: )(\d+[smhd])$/gmu, (_, head: string, time: string) => `${head}${shorter(time)}`);
}

/** Starts it on admin listeners; looks twice a second what fires. */
export async function startPrometheus({ folder, clock, targets, token }: Watching): Promise<Prometheus> {
  mkdirSync(folder, { recursive: true });
  const shipped = join(DEPLOY, 'prometheus/prometheus.yaml');
  const { rule_files, scrape_configs } = parse(readFileSync(shipped, 'utf8'));
  const rules: readonly string[] = rule_files.map((file: string, at: number) => {
    const copy = join(folder, `${at}.rules.yaml`);
    writeFileSync(copy, scaledRules(readFileSync(resolve(DEPLOY, 'prometheus', file), 'utf8'), clock.scale));
    return copy;
  });
  writeFileSync(join(folder, 'token'), token, { mode: 0o600 });
  // A busy machine answers within three seconds: a scrape that fails would end an alert that goes on.
  const times = { scrape_interval: '3s', evaluation_interval: '1s' };
  const [scrape] = scrape_configs;
  const job = {
    ...scrape,
    authorization: { credentials_file: join(folder, 'token') },
    static_configs: [{ targets }],
  };
  const file = join(folder, 'prometheus.yaml');
  writeFileSync(file, stringify({ global: times, rule_files: rules, scrape_configs: [job] }));
  execFileSync('promtool', ['check', 'config', file], { stdio: ['ignore', 'ignore', 'inherit'] });
  const port = await freePort();
  const prometheus = spawn(
    'prometheus',
    [
      `--config.file=${file}`,
      `--web.listen-address=127.0.0.1:${port}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'ignore'] },
  );
  await untilListening(port);
  const firings: Firing[] = [];
  let isOver = false;
  const looking = (async () => {
    while (!isOver) {
      note(firings, await firingNow(port), clock.now());
      await sleep(LOOK_MS);
    }
  })();
  return {
    firings,
    async stop() {
      isOver = true;
      await looking;
      if (prometheus.exitCode !== null) return;
      const ended = once(prometheus, 'exit');
      prometheus.kill('SIGTERM');
      await ended;
    },
  };
}

async function firingNow(port: number): Promise<ReadonlySet<string> | undefined> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/alerts`).catch(() => undefined);
  if (answer?.ok !== true) return undefined;
  const { data }: { data: { alerts: readonly { state: string; labels: { alertname: string } }[] } } = JSON.parse(
    await answer.text(),
  );
  return new Set(data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname));
}

/** Begins and ends firings by what fires now. */
function note(firings: Firing[], now: ReadonlySet<string> | undefined, at: number): void {
  if (now === undefined) return;
  const open = firings.filter(({ to }) => to === undefined);
  for (const firing of open) if (!now.has(firing.name)) firing.to = at;
  for (const name of now)
    if (!open.some((firing) => firing.name === name)) firings.push({ name, from: at, to: undefined });
}
