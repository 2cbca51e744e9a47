/** Which statements the pages of a daemon in this process ask the store. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { PostgresQueryCompiler, SqliteQueryCompiler } from 'kysely';
import { onTestFinished } from 'vitest';

export interface AskedStatement {
  /** The address of the page. */
  readonly page: string;
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

const REQUESTS = 'http.server.request.start';
/** Whose request is answered; what workers do beside it is of no page. */
const pageOf = new AsyncLocalStorage<string>();

/** Notes the statements of requests to one listener, from now until the test ends. */
export function noteStatements(origin: string): readonly AskedStatement[] {
  const asked: AskedStatement[] = [];
  const { host } = new URL(origin);
  const begin = (message: unknown): void => {
    const { request } = message as {
      readonly request: { readonly url: string; readonly headers: { readonly host?: string } };
    };
    pageOf.enterWith(request.headers.host === host ? request.url : '');
  };
  subscribe(REQUESTS, begin);
  onTestFinished(() => void unsubscribe(REQUESTS, begin));
  for (const { prototype } of [SqliteQueryCompiler, PostgresQueryCompiler]) {
    const compile = prototype.compileQuery;
    prototype.compileQuery = function (this: SqliteQueryCompiler, ...args: Parameters<typeof compile>) {
      const compiled = compile.apply(this, args);
      const page = pageOf.getStore() ?? '';
      if (page !== '') asked.push({ page, sql: compiled.sql, parameters: compiled.parameters });
      return compiled;
    } satisfies typeof compile;
    onTestFinished(() => {
      prototype.compileQuery = compile;
    });
  }
  return asked;
}
