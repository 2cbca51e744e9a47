/** A process with configured names of the e-mail event and of production units uses them everywhere. */
import { afterAll, describe, expect, it } from 'vitest';
import { publish } from '../../src/service/publish/publish.ts';
import { changed } from './monitored.ts';
import { ADMIN_TOKEN, startProcess } from './openapi.ts';

const running = await startProcess({ emailEvent: 'companyMail', placeType: 'ProductionUnit' });
afterAll(() => running.close());

const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
const call = async (method: string, path: string, body?: object) => {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(running.app.adminUrl + path, { method, headers, ...sent });
  return { status: answer.status, json: await answer.json() };
};

describe('configured names', () => {
  it('are used for the webhook in the OpenAPI document, in its schema and in every example', () => {
    const { requestBody } = running.document.webhooks.companyEvent.post;
    const { schema = {}, examples = {} } = requestBody?.content['application/json'] ?? {};
    const names = Object.keys(Object(schema['properties']).updates.properties);
    expect(names).toContain('companyMail');
    expect(names).not.toContain('email');
    expect(Object.keys(examples)).toEqual(names);
    for (const { value } of Object.values(examples)) expect(Object.keys(Object(value).updates)).toEqual(names);
    const units = ['pUnitUpdated', 'pUnitAdded', 'pUnitRemoved'].map(
      (name) => Object(examples[name]?.value).updates[name].entity.type,
    );
    expect(units).toEqual(['ProductionUnit', 'ProductionUnit', 'ProductionUnit']);
  });

  it('are used for the connector in the OpenAPI document', () => {
    const received = running.operations.find(({ operationId }) => operationId === 'receiveEvent');
    const names = Object.keys(Object(received?.body?.schema['properties']).updates.properties);
    expect(names).toContain('companyMail');
    expect(names).not.toContain('email');
    expect(Object.keys(Object(received?.body?.example).updates)).toEqual(names);
  });

  it('are returned by the monitors API as they were sent', async () => {
    const asked = { name: 'Mail', url: 'https://hooks.example.com/a', events: ['companyMail', 'fax'] };
    const { status, json } = await call('POST', '/admin/api/monitors', asked);
    expect([status, json.events]).toEqual([201, ['companyMail', 'fax']]);
    const path = `/admin/api/monitors/${json.id}`;
    expect((await call('GET', path)).json.events).toEqual(['companyMail', 'fax']);
    expect((await call('PATCH', path, { events: ['email'] })).json.events).toEqual(['companyMail']);
    expect((await call('POST', `${path}/rotate-secret`, {})).json.events).toEqual(['companyMail']);
    const listed = (await call('GET', '/admin/api/monitors')).json;
    expect(listed).toContainEqual(expect.objectContaining({ id: json.id, events: ['companyMail'] }));
    const wrong = (await call('PATCH', path, { events: ['nothing'] })).json.errors[0].message;
    expect(wrong).toContain('companyMail');
    expect(wrong).not.toContain(' email');
  });

  it('are used by the deliveries API', async () => {
    await call('POST', '/admin/api/monitors', { name: 'All', target: 'all', url: 'http://127.0.0.1:9/' });
    const change = changed({ updates: { email: { before: null, after: 'post@example.com' } } });
    await running.app.store.write((tx) => publish(tx, [change], { now: Date.now() }));
    const { json } = await call('GET', `/admin/api/deliveries?entity=${change.entity}`);
    expect(json).toMatchObject([{ events: ['companyMail'] }]);
  });
});
