/** The admin API: operators manage monitors, jobs, keys and deliveries over HTTP, as with the commands. */
import { guardAdmin } from '../http/server/admin-guard.ts';
import type { Server } from '../http/server/server.ts';
import { type Needs, OPERATIONS } from '../operations/list.ts';
import type { Ground } from '../operations/operation.ts';
import type { Access } from '../service/routes/access.ts';
import { readRequests } from '../service/routes/requests.ts';
import { addRoute } from './route.ts';

export interface AdminApiDeps extends Ground, Needs {
  readonly adminToken: string | undefined;
  /** Admits API keys with the scope `admin` as well. */
  readonly access: Pick<Access, 'checkKey'>;
}

/** Adds `/admin/api/…` behind its guard. A request that does not match its schema answers 422. */
export function addAdminApi(server: Server, deps: AdminApiDeps): void {
  const { adminToken, access } = deps;
  server.register(async (scope) => {
    readRequests(scope);
    const callerOf = guardAdmin(scope, { adminToken, checkKey: (key) => access.checkKey(key, 'admin') });
    for (const operation of OPERATIONS) addRoute(scope, operation, deps, callerOf);
  });
}
