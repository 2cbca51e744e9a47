/** Loaded into the daemon of a bench: writes each statement of SQLite that holds its thread for long into a file. */
import { appendFileSync } from 'node:fs';
import Database from 'better-sqlite3';

const file = process.env['CVRSYNC_BENCH_STATEMENTS'] ?? '';
const LEAST_MS = 20;

type Method = (this: Database.Statement, ...given: unknown[]) => unknown;

const memory = new Database(':memory:');
const prototype: Record<string, Method> = Object.getPrototypeOf(memory.prepare('select 1'));
memory.close();
for (const name of ['run', 'get', 'all']) {
  const original = prototype[name];
  if (original === undefined) throw new Error(`a statement has no ${name}`);
  prototype[name] = function (...given) {
    const began = performance.now();
    try {
      return original.apply(this, given);
    } finally {
      const ms = performance.now() - began;
      if (ms >= LEAST_MS && file !== '')
        appendFileSync(file, `${JSON.stringify({ ms: Math.round(ms), sql: this.source })}\n`);
    }
  };
}
