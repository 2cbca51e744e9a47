import type { Server } from '../http/server/server.ts';
import { addDeliveries } from './deliveries/deliveries-page.ts';
import { addDelivery } from './deliveries/delivery-page.ts';
import { addKeys } from './keys.ts';
import { addItemActions } from './monitors/items.ts';
import { addMonitorLists } from './monitors/list.ts';
import { addMonitorPage } from './monitors/monitors-page.ts';
import { addMonitorForms } from './monitors/save.ts';
import { addMonitorSteps } from './monitors/steps.ts';
import { addFetch } from './register/fetch.ts';
import { addRegister, type RegisterPageDeps } from './register/register-page.ts';

export function addServicePages(app: Server, deps: RegisterPageDeps): void {
  addDeliveries(app, deps);
  addDelivery(app, deps);
  addMonitorLists(app, deps);
  addMonitorForms(app, deps);
  addMonitorSteps(app, deps);
  addItemActions(app, deps);
  addMonitorPage(app, deps);
  addKeys(app, deps);
  addRegister(app, deps);
  addFetch(app, deps);
}
