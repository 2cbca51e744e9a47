/** After a run: whether PostgreSQL takes what the tests asked of SQLite. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { openStore } from '../../src/store/engines/open.ts';
import { createDatabase } from './postgres.ts';
import { refusedBy, type Statement, shapeOf } from './statements.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The folder for the statements that workers note. */
    statements: string;
  }
}

export function setup(project: TestProject): () => Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'cvrsync-statements-'));
  project.provide('statements', folder);
  return async () => {
    const statements = notedIn(folder);
    rmSync(folder, { recursive: true, force: true });
    if (statements.size === 0) return;
    const url = await createDatabase(project.getProvidedContext().postgres);
    await (await openStore(url)).close();
    const refused = await refusedBy(url, statements.values());
    if (refused.length === 0) return;
    // Not thrown: what was set up before this is to end, too.
    process.stderr.write(`PostgreSQL refuses what SQLite takes:\n${refused.join('\n')}\n`);
    process.exitCode = 1;
  };
}

/** One statement of each shape. */
function notedIn(folder: string): ReadonlyMap<string, Statement> {
  const lines = readdirSync(folder).flatMap((file) => readFileSync(path.join(folder, file), 'utf8').trim().split('\n'));
  return new Map(
    lines.map((line) => {
      const statement: Statement = JSON.parse(line);
      return [shapeOf(statement.sql), statement];
    }),
  );
}
