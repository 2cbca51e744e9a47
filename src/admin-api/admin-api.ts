/** The admin API: the operations over HTTP, as with the commands. */
import { guardAdmin } from '../http/server/admin-guard.ts';
import type { Server } from '../http/server/server.ts';
import { INSTALLATION_OPERATIONS, type InstallationNeeds } from '../operations/installation.ts';
import type { ServiceNeeds } from '../operations/list.ts';
import type { Ground } from '../operations/operation.ts';
import type { Access } from '../service/routes/access.ts';
import { readRequests } from '../service/routes/requests.ts';
import { addRoute } from './route.ts';

export interface AdminApiDeps extends Ground, InstallationNeeds {
  readonly adminToken: string | undefined;
  /** Without a service, only the operations of the installation have routes. */
  readonly service?: (ServiceNeeds & Pick<Ground, 'wakeUp'> & ServiceAccess) | undefined;
}

interface ServiceAccess {
  /** Admits API keys with the scope `admin` as well. */
  readonly access: Pick<Access, 'checkKey'>;
}

/** Adds `/admin/api/…` behind its guard. A request that does not match its schema answers 422. */
export function addAdminApi(server: Server, { service, ...deps }: AdminApiDeps): void {
  const { adminToken } = deps;
  server.register(async (scope) => {
    readRequests(scope);
    const checkKey = service && ((key: string) => service.access.checkKey(key, 'admin'));
    const callerOf = guardAdmin(scope, { adminToken, checkKey });
    for (const operation of INSTALLATION_OPERATIONS) addRoute(scope, operation, deps, callerOf);
    if (service === undefined) return;
    // Loaded if it is configured: a connector alone has the memory for itself.
    const { SERVICE_OPERATIONS } = await import('../operations/list.ts');
    for (const operation of SERVICE_OPERATIONS) addRoute(scope, operation, { ...deps, ...service }, callerOf);
  });
}
