/** One PostgreSQL for the whole test run. It starts beside the first tests; `CVRSYNC_TEST_POSTGRES` names a server to use instead. */
import type { TestProject } from 'vitest/node';
import { startPostgres } from './postgres.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** URL of the server's maintenance database. */
    postgres: string;
  }
}

export function setup(project: TestProject): (() => Promise<void>) | undefined {
  const given = process.env['CVRSYNC_TEST_POSTGRES'];
  if (given !== undefined) {
    project.provide('postgres', given);
    return undefined;
  }
  const server = startPostgres();
  project.provide('postgres', server.url);
  return () => server.stop();
}
