/** The specification's four monitoring endpoints. */
import type { Server } from '../../http/server/server.ts';
import { addItemRoutes, type ItemRouteDeps } from './items.ts';
import { addJobRoutes, type JobRouteDeps } from './jobs.ts';
import { foldQueryNames, readRequests } from './requests.ts';

/**
 * Adds the routes that add, remove and list items, and list jobs, for keys with the scope `monitoring`. They check
 * the key before the request, which answers 422 if it does not match its schema.
 */
export function addMonitoringRoutes(server: Server, deps: ItemRouteDeps & JobRouteDeps): void {
  server.register(async (scope) => {
    readRequests(scope);
    scope.addHook('onRequest', deps.access.guard('monitoring'));
    foldQueryNames(scope, ['entityId', 'id', 'sendUpdate', 'take', 'continuationToken']);
    addItemRoutes(scope, deps);
    addJobRoutes(scope, deps);
  });
}
