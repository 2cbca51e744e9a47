/** Who else uses the service in the demo: a colleague who wants mail, a client that reads news, an operator. */

import Type from 'typebox';
import { Value } from 'typebox/value';
import { replayDeliveries } from '../../service/delivery/deliveries.ts';
import { addItem } from '../../service/items/items.ts';
import { createKey } from '../../service/keys/keys.ts';
import { createMonitor } from '../../service/monitors/monitors.ts';
import { type Actor, companyOf, type DemoSetup } from './setup.ts';

const news = Type.Array(Type.Object({ headline: Type.String() }));

const serviceOf = ({ app }: DemoSetup) => {
  if (app.service === undefined) throw new Error('the demo runs without the service');
  return app.service;
};

/** Creates a monitor that sends mail about names and addresses at once. */
export async function watchByMail(setup: DemoSetup, actors: readonly Actor[]): Promise<void> {
  const { secrets } = serviceOf(setup);
  const now = Date.now();
  await setup.app.store.write(async (tx) => {
    const colleague = {
      name: 'Sales',
      emails: ['ida@example.com'],
      mailFrequency: 'immediate',
      events: ['name', 'address'],
    } as const;
    const { id: monitor } = await createMonitor(tx, colleague, { secrets, now });
    for (const actor of actors)
      await addItem(tx, { monitor, entity: companyOf(actor).entityId, recordId: '', sendUpdate: false, now });
  });
}

/** Asks the service for news as any client does. */
export async function askNews(setup: DemoSetup, ids: readonly string[]): Promise<Type.Static<typeof news>> {
  const scopes = ['news'] as const;
  const { key } = await setup.app.store.write((tx) => createKey(tx, { name: 'demo', scopes }, Date.now()));
  const answer = await fetch(`${setup.app.url}/modules/news?orderBy=publishtime`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-access-key': key },
    body: JSON.stringify(ids),
  });
  return Value.Parse(news, await answer.json());
}

/** Sends the newest delivery of a company again; returns how many were. */
export async function resendLast(setup: DemoSetup, entity: string): Promise<number> {
  const { seq } = await setup.app.store.db
    .selectFrom('delivery')
    .select(({ fn }) => fn.max('seq').as('seq'))
    .where('entity', '=', entity)
    .where('state', '=', 'done')
    .executeTakeFirstOrThrow();
  return setup.app.store.write((tx) => replayDeliveries(tx, { seq, state: 'done' }, Date.now()));
}
