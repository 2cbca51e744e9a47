/**
 * A small machine for one process, without control groups, which not every user may make: `taskset` gives one core. A process
 * that takes more than the memory is killed, as Linux would, and what is cached of its store beyond the rest is dropped
 * again. What it took at the most Linux counts itself.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { request } from 'undici';

const PAGE_BYTES = 4_096;
const EVERY_MS = 250;

/** A command that confines what it starts to one core. */
export const onCore = (core: number): readonly string[] => ['taskset', '-c', String(core)];

export interface Watched {
  /** The longest answer of `/live` in ms: as it was, and without the time for which others had the processors. */
  readonly liveMs: number;
  readonly ownLiveMs: number;
  /** The most memory in MB: of the process, and together with its cached pages. */
  readonly rssMb: number;
  readonly wholeMb: number;
}

/** Keeps the cached pages of the store within the memory, and asks `/live` all the time; `part` ends a part. */
export function watchConfined(pid: number, options: { origin: string; store: string; bytes: number }) {
  const { origin, store, bytes } = options;
  const over = new AbortController();
  let most = nothing();
  const files = [store, `${store}-wal`];
  const keep = setInterval(() => {
    const rss = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES;
    const whole = rss + cachedBytes(files);
    most = { ...most, rssMb: Math.max(most.rssMb, rss / 1e6), wholeMb: Math.max(most.wholeMb, whole / 1e6) };
    if (rss > bytes) {
      process.kill(pid, 'SIGKILL');
      throw new Error(`the daemon was killed: it took ${rss} bytes of memory`);
    }
    if (whole > bytes) for (const file of files.filter((each) => existsSync(each))) dropCached(file);
  }, EVERY_MS);
  const asking = (async () => {
    while (!over.signal.aborted) {
      const [asked, waited] = [performance.now(), waitedMs(pid)];
      const { body } = await request(`${origin}/live`);
      await body.text();
      const ms = performance.now() - asked;
      const own = ms - (waitedMs(pid) - waited);
      most = { ...most, liveMs: Math.max(most.liveMs, ms), ownLiveMs: Math.max(most.ownLiveMs, own) };
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  return {
    part(): Watched {
      const ended = most;
      most = nothing();
      return ended;
    },
    async stop() {
      clearInterval(keep);
      over.abort();
      await asking;
    },
  };
}

const nothing = (): Watched => ({ liveMs: 0, ownLiveMs: 0, rssMb: 0, wholeMb: 0 });

/** For how long the thread that runs JavaScript, and this one, were ready to run and waited for a processor. */
const waitedMs = (pid: number): number =>
  [pid, process.pid]
    .map((each) => Number(readFileSync(`/proc/${each}/task/${each}/schedstat`, 'utf8').split(' ')[1]) / 1e6)
    .reduce((sum, each) => sum + each);

/** Bytes of the files that Linux has in memory. */
function cachedBytes(files: readonly string[]): number {
  const there = files.filter((file) => existsSync(file));
  const lines = execFileSync('fincore', ['--bytes', '--raw', '--noheadings', '--output', 'RES', ...there], {
    encoding: 'utf8',
  });
  return lines.split('\n').reduce((sum, line) => sum + Number(line), 0);
}

/** Drops what is not waiting to be written. */
const dropCached = (file: string): void =>
  void execFileSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0', 'status=none']);
