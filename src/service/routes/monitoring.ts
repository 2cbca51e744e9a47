/** The specification's four monitoring endpoints. */
import type { Server } from '../../http/server/server.ts';
import { addItemRoutes, type ItemRouteDeps } from './items.ts';
import { addJobRoutes, type JobRouteDeps } from './jobs.ts';
import { answer422, foldQueryNames, ignoreBodies } from './schemas.ts';

/**
 * Adds what a caller with a key of scope `monitoring` asks for: items added and removed, items and jobs listed. A key is
 * asked for before anything else is looked at; then what cannot be read answers 422.
 */
export function addMonitoringRoutes(server: Server, deps: ItemRouteDeps & JobRouteDeps): void {
  server.register(async (scope) => {
    answer422(scope);
    ignoreBodies(scope);
    scope.addHook('onRequest', deps.access.guard('monitoring'));
    foldQueryNames(scope, ['entityId', 'id', 'sendUpdate', 'take', 'continuationToken']);
    addItemRoutes(scope, deps);
    addJobRoutes(scope, deps);
  });
}
