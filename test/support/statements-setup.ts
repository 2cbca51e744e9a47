/** In every worker: notes each statement that SQLite gets for the first time. `statements-global.ts` runs them on PostgreSQL. */
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { SqliteQueryCompiler } from 'kysely';
import { expect, inject } from 'vitest';
import { isOfBoth, type Statement, shapeOf } from './statements.ts';

const { prototype } = SqliteQueryCompiler;

// A worker runs this again before each file.
if (!Object.hasOwn(prototype, 'compileQuery')) {
  const compile = prototype.compileQuery;
  const file = path.join(inject('statements'), `${process.pid}.jsonl`);
  const seen = new Set<string>();
  prototype.compileQuery = function (this: SqliteQueryCompiler, ...args: Parameters<typeof compile>) {
    const compiled = compile.apply(this, args);
    const { sql, parameters } = compiled;
    if (!seen.has(sql)) {
      seen.add(sql);
      const shape = shapeOf(sql);
      if (shape === sql || !seen.has(shape)) note({ sql, parameters });
      seen.add(shape);
    }
    return compiled;
  } satisfies typeof compile;

  const note = ({ sql, parameters }: Omit<Statement, 'test'>): void => {
    // A migration is written for each engine, and its test runs it on both.
    if (!isOfBoth(sql) || new Error().stack?.includes('/migrations/')) return;
    const { testPath = '', currentTestName = 'its beginning' } = expect.getState();
    const test = `${path.relative(process.cwd(), testPath)} > ${currentTestName}`;
    appendFileSync(file, `${JSON.stringify({ sql, parameters, test } satisfies Statement)}\n`);
  };
}
