/** The pages of the service half: what it sent, and to whom. */
import type { Server } from '../http/server/server.ts';
import { addDelivery } from './deliveries/delivery-page.ts';
import { addDeliveries } from './deliveries/page.ts';
import { addReplay } from './deliveries/replay.ts';
import type { ServicePageDeps } from './routes.ts';

/** Adds them. */
export function addServicePages(app: Server, deps: ServicePageDeps): void {
  addDeliveries(app, deps);
  addReplay(app, deps);
  addDelivery(app, deps);
}
