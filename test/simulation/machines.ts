/** The machines of a world: on each runs a daemon, which starts again after it died, and whose clock is the machine's. */
import type { Logger } from 'pino';
import type { EmulatorHandler } from '../../providers/kit/emulator/emulator.ts';
import type { Config } from '../../src/config/load.ts';
import type { Random } from '../../src/protocol/sample/random.ts';
import { storeErrorIn } from '../../src/store/store-error.ts';
import { type Daemon, type Disk, startDaemon } from './daemon.ts';
import type { Owner, Time } from './time.ts';

export interface Machine {
  readonly name: string;
  /** What its clock is ahead, in ms. */
  skew: number;
  /** When it may start again, if its daemon dies. */
  downUntil: number;
  /** After how many commits its next daemon dies, too. */
  diesAfter: number | undefined;
  /** Undefined while it is down. */
  daemon: Daemon | undefined;
}

export interface Machines {
  readonly all: readonly Machine[];
  /** Those whose daemon runs. */
  running(): readonly Machine[];
  /** Starts a daemon on each, one after the other, and again whenever it died. */
  start(): Promise<void>;
  /** Of the store. */
  readonly disk: Disk;
  /** Why a daemon did not start again. */
  readonly broken: unknown;
  close(): void;
}

export interface MachinesOptions {
  readonly count: number;
  readonly config: Config;
  readonly time: Time;
  readonly log: Logger;
  readonly random: Random;
  readonly note: (line: string) => void;
  /** Serves a process; returns its address. */
  readonly serve: (at: () => { readonly owner: Owner; readonly handle: EmulatorHandler } | undefined) => string;
}

export function openMachines({ count, config, time, log, random, note, serve }: MachinesOptions): Machines {
  const all = Array.from(
    { length: count },
    (_, index): Machine => ({ name: `m${index + 1}`, skew: 0, downUntil: 0, diesAfter: undefined, daemon: undefined }),
  );
  const running = (): readonly Machine[] => all.filter(({ daemon }) => daemon !== undefined);
  // Each request reaches one of those that run, as behind a proxy.
  const url = serve(() => {
    const up = running();
    return up[random.int(0, Math.max(0, up.length - 1))]?.daemon;
  });
  const disk: Disk = { isFull: false };
  let starts = 0;
  let isClosed = false;
  let broken: unknown;

  async function start(machine: Machine): Promise<void> {
    starts += 1;
    const name = `${machine.name}-${starts}`;
    const others = () => all.flatMap(({ daemon }) => (daemon === undefined ? [] : [daemon.holder]));
    const daemon = await startDaemon({ config, name, time, log, url, others, disk, skew: () => machine.skew });
    machine.daemon = daemon;
    daemon.dieAt(machine.diesAfter ?? Number.POSITIVE_INFINITY, 'after');
    machine.diesAfter = undefined;
    void daemon.owner.died.then(() => {
      if (isClosed) return;
      machine.daemon = undefined;
      note(`died ${name}`);
      const soon = random.int(500, 60_000);
      time.after(Math.max(soon, machine.downUntil - time.now()), 'restart', () => void restart(machine));
    });
  }

  async function restart(machine: Machine): Promise<void> {
    await start(machine).catch((error) => {
      // As a supervisor does.
      if (disk.isFull || storeErrorIn(error) !== undefined)
        time.after(random.int(5_000, 30_000), 'restart', () => void restart(machine));
      else broken ??= error;
    });
  }

  return {
    all,
    disk,
    running,
    async start() {
      for (const machine of all) await start(machine);
    },
    get broken() {
      return broken;
    },
    close() {
      isClosed = true;
      for (const { daemon } of all) daemon?.kill();
    },
  };
}
