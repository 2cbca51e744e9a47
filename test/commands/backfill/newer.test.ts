/** A first fill while the register goes on changing: of each property the newer value counts, whichever came first. */
import { describe, expect, it } from 'vitest';
import { payloadOf } from '../../../src/protocol/payload.ts';
import { fullStatePayload, sampleCompany } from '../../../src/protocol/sample/company.ts';
import { reported } from '../../faults/company.ts';
import { serveService } from '../../support/service.ts';
import { startFixture } from '../../support/stage.ts';
import { ENGINES } from '../../support/stores.ts';

const hour = (at: number): string => new Date(Date.UTC(2026, 2, 2, at)).toISOString();

describe.each(ENGINES)('a first fill on %s', (engine) => {
  it('brings no value back that is older than what a webhook said meanwhile, property by property', async () => {
    const service = await serveService();
    const stage = await startFixture({
      engine,
      connections: { hubspot: { match: { property: 'cvr_number' }, policy: 'always' } },
      upstream: { baseUrl: service.url, accessKey: service.accessKey, requestsPerMinute: 60_000 },
    });
    const company = { ...sampleCompany(4), phoneNumber: '10111111', website: 'www.gammel.example', altNames: [] };
    const { entityId } = company;
    const id = stage.hubspot.add({ cvr_number: entityId.slice('CVR-1-'.length), name: 'Hvad nogen skrev' });
    // Before the record is linked: nobody stands for the company yet, and what is said of it must not be forgotten.
    await stage.post(reported({ name: { before: company.name, after: 'Nyere Navn ApS' } }, 9, entityId));
    expect((await stage.cli('backfill', 'hubspot', '--yes', '--send-update')).code).toBe(0);
    expect(service.changes).toEqual([`add hubspot ${entityId} ${id} +update`]);
    // Linked, and before the service states the whole company as it was an hour before.
    await stage.post(reported({ phoneNumber: { before: '10111111', after: '10222222' } }, 10, entityId));
    await stage.settled();
    await stage.post(fullStatePayload(company, hour(8)));
    await stage.settled();
    expect(stage.hubspot.get(id)).toMatchObject({
      name: 'Nyere Navn ApS',
      phone: expect.stringContaining('10222222'),
      website: expect.stringContaining('gammel.example'),
    });
    // The same again, whole and newer, is the newest word on every property.
    await stage.post(fullStatePayload({ ...company, name: 'Nyeste Navn ApS' }, hour(11)));
    await stage.settled();
    expect(stage.hubspot.get(id)).toMatchObject({
      name: 'Nyeste Navn ApS',
      phone: expect.stringContaining('10111111'),
    });
    await stage.post(payloadOf(entityId, hour(10), { website: { before: null, after: 'www.sen.example' } }));
    await stage.settled();
    expect(stage.hubspot.get(id)).toMatchObject({ website: expect.stringContaining('gammel.example') });
  });
});
