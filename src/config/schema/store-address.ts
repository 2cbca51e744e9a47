import type { ConfigProblem } from './fill.ts';

const POSTGRES = 'postgres://user:password@host:5432/cvrsync';
const FILE = 'a path such as data/cvrsync.db';

/**
 * Reports an address that would become a file name, or that no driver reads. Repeats only the scheme, because the rest
 * may hold a password.
 */
export function reportStore({ store }: { readonly store: string }, errors: ConfigProblem[]): void {
  const message = faultOf(store);
  if (message !== undefined) errors.push({ path: 'store', message });
}

function faultOf(store: string): string | undefined {
  // One letter and a colon begin a Windows path.
  const [, scheme = '', slashes] = /^([a-z][a-z\d+.-]+):(\/\/)?/iu.exec(store) ?? [];
  if (/^postgres(?:ql)?$/u.test(scheme) && slashes !== undefined)
    return isReadable(store)
      ? undefined
      : `cannot be read as an address: write ${POSTGRES}, with %40 for an @ in the password, %2F for a /`;
  if (/(?:^|[+:])(?:jdbc|postgres|postgresql|psql|pgsql|pg)$/iu.test(scheme))
    return `begins with "${scheme}:", which is not how cvrsync writes it: write ${POSTGRES}`;
  if (/^(?:file|sqlite3?)$/iu.test(scheme)) return `begins with "${scheme}:": write the path alone, ${FILE}`;
  if (scheme !== '')
    return `begins with "${scheme}:", which names no store of cvrsync: write ${FILE} for SQLite, or ${POSTGRES}`;
  if (/(?:^|\s)(?:host|hostaddr|port|dbname|user|password|service)\s*=/u.test(store))
    return `is a list of keywords, as libpq takes it: write ${POSTGRES}`;
  return undefined;
}

/** The address of a Unix socket has a user but no host, which follows as the parameter `host`. */
const isReadable = (store: string): boolean => URL.canParse(store.replace('@/', '@socket/'));
