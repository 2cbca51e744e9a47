/** The admin API: programs do over HTTP what operators do with commands and on pages. */
import { type AdminGuardOptions, guardAdmin } from '../http/server/admin-guard.ts';
import type { Server } from '../http/server/server.ts';
import type { LinkNeeds } from '../operations/connector/links.ts';
import { CONNECTOR_OPERATIONS } from '../operations/connector/list.ts';
import type { Ground } from '../operations/definition/operation.ts';
import { INSTALLATION_OPERATIONS, type InstallationNeeds } from '../operations/installation/list.ts';
import type { ServiceNeeds } from '../operations/service/list.ts';
import type { Access } from '../service/routes/access.ts';
import { readRequests } from '../service/routes/requests.ts';
import { addRoute } from './route.ts';

export interface AdminApiDeps extends Ground, InstallationNeeds, Pick<AdminGuardOptions, 'adminToken'> {
  /** The service half, if it runs; it admits API keys with the scope `admin` as well. */
  readonly service?: (ServiceNeeds & Pick<Ground, 'wakeUp'> & ServiceAccess) | undefined;
  /** The connector half, if it runs. */
  readonly connector?: LinkNeeds | undefined;
}

interface ServiceAccess {
  readonly access: Pick<Access, 'checkKey'>;
}

/** Adds `/admin/api/…` behind its guard, for the halves that run. A request that does not match its schema answers 422. */
export function addAdminApi(server: Server, { service, connector, ...deps }: AdminApiDeps): void {
  const { adminToken } = deps;
  server.register(async (scope) => {
    readRequests(scope);
    const checkKey = service && ((key: string) => service.access.checkKey(key, 'admin'));
    const callerOf = guardAdmin(scope, { adminToken, checkKey });
    for (const operation of INSTALLATION_OPERATIONS) addRoute(scope, operation, deps, callerOf);
    if (connector !== undefined)
      for (const operation of CONNECTOR_OPERATIONS) addRoute(scope, operation, { ...deps, ...connector }, callerOf);
    if (service === undefined) return;
    // Loaded if it is configured: a connector alone has the memory for itself.
    const { SERVICE_OPERATIONS } = await import('../operations/service/list.ts');
    for (const operation of SERVICE_OPERATIONS) addRoute(scope, operation, { ...deps, ...service }, callerOf);
  });
}
