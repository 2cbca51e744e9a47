/** The administration: what the commands do, over HTTP. */
import type { Server } from '../../../http/server.ts';
import { answer422 } from '../schemas.ts';
import { addDeliveryRoutes } from './deliveries.ts';
import { type AdminGuardOptions, guardAdmin } from './guard.ts';
import { addAdminJobRoutes } from './jobs.ts';
import { addKeyRoutes } from './keys.ts';
import { addMonitorItemRoutes } from './monitor-items.ts';
import { addMonitorTestRoute, type MonitorTestDeps } from './monitor-test.ts';
import { addMonitorRoutes } from './monitors.ts';

/** Adds `/admin/api/…` behind its guard. What cannot be read answers 422. */
export function addAdminRoutes(server: Server, deps: MonitorTestDeps & AdminGuardOptions): void {
  server.register(async (scope) => {
    answer422(scope);
    guardAdmin(scope, deps);
    addMonitorRoutes(scope, deps);
    addMonitorItemRoutes(scope, deps);
    addMonitorTestRoute(scope, deps);
    addAdminJobRoutes(scope, deps);
    addKeyRoutes(scope, deps);
    addDeliveryRoutes(scope, deps);
  });
}
