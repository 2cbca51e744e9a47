/** Puts the process of a daemon or a command to sleep. */
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import type { Running } from './command.ts';
import type { Daemon } from './daemon.ts';

/** Whether nobody stands still amid a write to the file; a database on PostgreSQL is not asked. */
function isFree(file: string): boolean {
  if (file.startsWith('postgres')) return true;
  const db = new Database(file, { timeout: 0 });
  try {
    db.exec('begin immediate; rollback');
    return true;
  } catch {
    return false;
  } finally {
    db.close();
  }
}

/** Puts a process to sleep, as a machine that suspends does: not while it holds the file. */
export async function freeze(sleeper: Pick<Running | Daemon, 'signal'>, file: string): Promise<void> {
  for (;;) {
    sleeper.signal('SIGSTOP');
    if (isFree(file)) return;
    sleeper.signal('SIGCONT');
    await sleep(5);
  }
}
