import { describe, expect, it } from 'vitest';
import { revokeKey } from '../../../src/service/keys/keys.ts';
import { type ENGINES, SUITE_ENGINES } from '../../support/stores.ts';
import { type Harness, itemsAt, openHarness, problemsIn } from './harness.ts';

const item = { entityId: 'CVR-1-10000001', id: 'rec/7 & more' };

/** A harness with a key that has a job for `hubspot`. */
const furnished = async (engine: (typeof ENGINES)[number] = 'sqlite') => {
  const harness = await openHarness(engine);
  const { id: keyId, key } = await harness.key();
  const jobId = await harness.job(keyId, 'hubspot');
  return { harness, keyId, key, jobId };
};

const listed = async (harness: Harness, jobId: string) =>
  (
    await harness.store.db
      .selectFrom('item')
      .select(['entity', 'record_id as id'])
      .where('monitor', '=', jobId)
      .orderBy('seq')
      .execute()
  ).map(({ entity, id }) => `${entity} ${id}`);

describe.each(SUITE_ENGINES)('items on %s', (engine) => {
  it('are added and removed, and each call can be repeated', async () => {
    const { harness, key, jobId } = await furnished(engine);
    const path = itemsAt('hubspot', { ...item, accesskey: key });
    for (let time = 0; time < 2; time++) {
      const added = await harness.call('POST', path);
      expect([added.status, added.text]).toEqual([204, '']);
      expect(await listed(harness, jobId)).toEqual(['CVR-1-10000001 rec/7 & more']);
    }
    for (let time = 0; time < 2; time++) {
      const removed = await harness.call('DELETE', path);
      expect([removed.status, removed.text]).toEqual([204, '']);
      expect(await listed(harness, jobId)).toEqual([]);
    }
  });

  it('are one for each company and id, whatever the case of the company', async () => {
    const { harness, key, jobId } = await furnished(engine);
    const headers = { 'x-access-key': key };
    for (const [entityId, id] of [
      ['CVR-1-10000001', '1'],
      ['cvr-1-10000001', '1'],
      ['CVR-1-10000001', '2'],
      ['CVR-3-4000000001', '1'],
      ['CVR-1-10000001', 'Æblegård 🍏'],
    ] as const)
      expect((await harness.call('POST', itemsAt('hubspot', { entityId, id }), { headers })).status).toBe(204);
    expect(await listed(harness, jobId)).toEqual([
      'CVR-1-10000001 1',
      'CVR-1-10000001 2',
      'CVR-3-4000000001 1',
      'CVR-1-10000001 Æblegård 🍏',
    ]);
  });

  it('have their full state requested with sendUpdate, in any case, and not without', async () => {
    const { harness, key, jobId } = await furnished(engine);
    const headers = { 'x-access-key': key };
    const lanes = async () =>
      (await harness.store.db.selectFrom('lane').select('key').where('queue', '=', 'state').execute()).length;
    // An empty `sendUpdate=` counts as absent: callers send what they have no value for.
    for (const sendUpdate of ['false', 'FALSE', ''])
      expect((await harness.call('POST', itemsAt('hubspot', { ...item, sendUpdate }), { headers })).status).toBe(204);
    await harness.call('POST', itemsAt('hubspot', item), { headers });
    expect(await lanes()).toBe(0);
    expect(harness.rung).not.toContain('state');
    for (const sendUpdate of ['true', 'True', 'TRUE'])
      expect((await harness.call('POST', itemsAt('hubspot', { ...item, sendUpdate }), { headers })).status).toBe(204);
    expect(await lanes()).toBe(1);
    expect(harness.rung).toContain('state');
    expect(await listed(harness, jobId)).toHaveLength(1);
  });
});

describe('a provider', () => {
  it('is found without regard to case', async () => {
    const { harness, key, jobId } = await furnished();
    expect((await harness.call('POST', itemsAt('HubSpot', { ...item, accesskey: key }))).status).toBe(204);
    expect(await listed(harness, jobId)).toHaveLength(1);
  });

  it.each(['salesforce', '', 'hub spot', 'hubspot\0', '../jobs', '<script>', 'x'.repeat(499)])(
    'without a job answers 404 and lists those with one: %j',
    async (provider) => {
      const { harness, key } = await furnished();
      for (const method of ['POST', 'DELETE']) {
        const answer = await harness.call(method, itemsAt(provider, { ...item, accesskey: key }));
        expect(answer.status).toBe(404);
        expect(answer.json).toMatchObject({ httpStatusCode: 404, errorCode: 404 });
        expect(answer.text).not.toContain('<');
        expect(answer.text).toContain('It has: hubspot. The {Provider} is named as its job is.');
      }
    },
  );

  it('of another key answers like one without a job', async () => {
    const { harness, jobId } = await furnished();
    const stranger = await harness.key();
    for (const method of ['POST', 'DELETE'])
      expect((await harness.call(method, itemsAt('hubspot', { ...item, accesskey: stranger.key }))).status).toBe(404);
    expect(await listed(harness, jobId)).toEqual([]);
    const own = await harness.job(stranger.id, 'hubspot');
    await harness.call('POST', itemsAt('hubspot', { ...item, accesskey: stranger.key }));
    expect(await listed(harness, own)).toHaveLength(1);
    expect(await listed(harness, jobId)).toEqual([]);
  });

  it('keeps its items when its key is revoked, and accepts no more', async () => {
    const { harness, keyId, key, jobId } = await furnished();
    const path = itemsAt('hubspot', { ...item, accesskey: key });
    await harness.call('POST', path);
    await harness.store.write((tx) => revokeKey(tx, keyId, harness.clock.now()));
    harness.clock.forward(1_000);
    expect((await harness.call('DELETE', path)).status).toBe(401);
    expect(await listed(harness, jobId)).toHaveLength(1);
  });
});

describe('a request that cannot be read', () => {
  it.each([
    ['no company', 'id=7', ['querystring.entityId is missing']],
    ['no id', 'entityId=CVR-1-10000001', ['querystring.id is missing']],
    ['neither', '', ['querystring.entityId is missing', 'querystring.id is missing']],
    ['an empty id', 'entityId=CVR-1-10000001&id=', [expect.stringContaining('querystring.id')]],
    [
      'a company twice',
      'entityId=CVR-1-10000001&entityId=CVR-1-10000002&id=7',
      ['querystring.entityId must be string'],
    ],
    [
      'a company twice in two cases',
      'entityId=CVR-1-10000001&entityid=CVR-1-10000001&id=7',
      ['querystring.entityId must be string'],
    ],
    ['an id twice', 'entityId=CVR-1-10000001&id=7&id=7', ['querystring.id must be string']],
    [
      'a word for a company',
      'entityId=Nordlys&id=7',
      [expect.stringContaining('querystring.entityId is not an entity id')],
    ],
    ['a CVR number alone', 'entityId=10000001&id=7', [expect.stringContaining('is not an entity id')]],
    ['a number too short', 'entityId=CVR-1-1000001&id=7', [expect.stringContaining('eight digits')]],
    ['a number too long', 'entityId=CVR-1-100000011&id=7', [expect.stringContaining('eight digits')]],
    ['letters for digits', 'entityId=CVR-1-1000000x&id=7', [expect.stringContaining('is not an entity id')]],
    ['a production unit', 'entityId=CVR-2-1000000020&id=7', [expect.stringContaining('cannot be monitored')]],
    ['another register', 'entityId=ABC-1-10000001&id=7', [expect.stringContaining('cannot be monitored')]],
    ['a company of a thousand letters', `entityId=${'C'.repeat(1_000)}&id=7`, [expect.stringContaining('entityId')]],
    [
      'an id of a thousand letters',
      `entityId=CVR-1-10000001&id=${'7'.repeat(1_000)}`,
      [expect.stringContaining('.id ')],
    ],
    ['an id in Latin-1', 'entityId=CVR-1-10000001&id=%C5ben', ['querystring.id is not percent-encoded UTF-8']],
    ['an id that is cut', 'entityId=CVR-1-10000001&ID=%C3', ['querystring.ID is not percent-encoded UTF-8']],
    ['an id with a NUL', 'entityId=CVR-1-10000001&id=7%00', [expect.stringContaining('querystring.id')]],
    ['an id with a line end', 'entityId=CVR-1-10000001&id=7%0a8', [expect.stringContaining('querystring.id')]],
  ])('because of %s answers 422 and names the place, for POST and DELETE', async (_what, query, problems) => {
    const { harness, key, jobId } = await furnished();
    for (const method of ['POST', 'DELETE']) {
      const answer = await harness.call(method, `/apps/monitoring/jobs/thirdparty/hubspot/items?${query}`, {
        headers: { 'x-access-key': key },
      });
      expect(answer.status).toBe(422);
      expect(answer.json).toMatchObject({ httpStatusCode: 422, errorCode: 422 });
      expect(problemsIn(answer)).toEqual(problems);
    }
    expect(await listed(harness, jobId)).toEqual([]);
  });

  it('because of a sendUpdate that is neither true nor false, or both', async () => {
    const { harness, key } = await furnished();
    for (const sendUpdate of ['perhaps', '1', '0', 'yes', ' true', 'true&sendUpdate=false']) {
      const query = `entityId=CVR-1-10000001&id=7&sendUpdate=${sendUpdate}&accesskey=${key}`;
      const answer = await harness.call('POST', `/apps/monitoring/jobs/thirdparty/hubspot/items?${query}`);
      expect(answer.status).toBe(422);
      expect(problemsIn(answer)).toEqual([expect.stringMatching(/^querystring\.sendUpdate /)]);
    }
  });
});

describe('an unusual request', () => {
  it('may name its parameters in any case and send others', async () => {
    const { harness, key, jobId } = await furnished();
    const query = `EntityID=CVR-1-10000001&ID=7&SENDUPDATE=true&colour=red&accessKey=${key}&__proto__=x`;
    expect((await harness.call('POST', `/apps/monitoring/jobs/thirdparty/hubspot/items?${query}`)).status).toBe(204);
    expect(await listed(harness, jobId)).toEqual(['CVR-1-10000001 7']);
  });

  it.each([
    ['JSON', 'application/json', '{"a":1}'],
    ['a form', 'application/x-www-form-urlencoded', 'a=1'],
    ['nothing, said to be JSON', 'application/json', ''],
    ['plain text', 'text/plain', 'x'],
  ])('may have a body of %s', async (_what, type, body) => {
    const { harness, key } = await furnished();
    const answer = await fetch(harness.url + itemsAt('hubspot', { ...item, accesskey: key }), {
      method: 'POST',
      headers: { 'content-type': type },
      body,
    });
    expect(answer.status).toBe(204);
  });

  it('may not have a body of two megabytes', async () => {
    const { harness, key } = await furnished();
    const path = itemsAt('hubspot', { ...item, accesskey: key });
    expect((await harness.call('POST', path, { body: 'x'.repeat(2_000_000) })).status).toBe(413);
  });
});
