/** The admin API: operators manage monitors, jobs, keys and deliveries over HTTP, as with the commands. */
import { guardAdmin } from '../../../http/server/admin-guard.ts';
import type { Server } from '../../../http/server/server.ts';
import type { MonitorTestDeps } from '../../test-webhook/test-monitor.ts';
import type { Access } from '../access.ts';
import { readRequests } from '../requests.ts';
import { auditRequests } from './audit-requests.ts';
import { addDeliveryRoutes } from './deliveries.ts';
import { addAdminJobRoutes } from './jobs.ts';
import { addKeyRoutes } from './keys.ts';
import { addMonitorItemRoutes } from './monitor-items.ts';
import { addMonitorTestRoute } from './monitor-test.ts';
import { addMonitorRoutes, type MonitorRouteDeps } from './monitors.ts';

export interface AdminRouteDeps extends MonitorRouteDeps, MonitorTestDeps {
  readonly adminToken: string | undefined;
  /** Admits API keys with the scope `admin` as well. */
  readonly access: Pick<Access, 'checkKey'>;
}

/** Adds `/admin/api/…` behind its guard. A request that does not match its schema answers 422. */
export function addAdminRoutes(server: Server, deps: AdminRouteDeps): void {
  const { adminToken, access } = deps;
  server.register(async (scope) => {
    readRequests(scope);
    const callerOf = guardAdmin(scope, { adminToken, checkKey: (key) => access.checkKey(key, 'admin') });
    auditRequests(scope, deps, callerOf);
    addMonitorRoutes(scope, deps);
    addMonitorItemRoutes(scope, deps);
    addMonitorTestRoute(scope, deps);
    addAdminJobRoutes(scope, deps);
    addKeyRoutes(scope, deps);
    addDeliveryRoutes(scope, deps);
  });
}
