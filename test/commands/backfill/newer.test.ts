/** A backfill while the register goes on changing: of each property the newer value counts, whichever came first. */
import { describe, expect, it } from 'vitest';
import { payloadOf } from '../../../src/protocol/payload.ts';
import { fullStatePayload, sampleCompany } from '../../../src/protocol/sample/company.ts';
import { reported } from '../../faults/company.ts';
import { startFixture } from '../../support/fixture.ts';
import { serveService } from '../../support/service.ts';
import { SUITE_ENGINES } from '../../support/stores.ts';

const hour = (at: number): string => new Date(Date.UTC(2026, 2, 2, at)).toISOString();

describe.each(SUITE_ENGINES)('a backfill on %s', (engine) => {
  it('does not restore values that are older than those of a later webhook, property by property', async () => {
    const service = await serveService();
    const fixture = await startFixture({
      engine,
      connections: { hubspot: { match: { property: 'cvr_number' }, policy: 'always' } },
      upstream: { baseUrl: service.url, accessKey: service.accessKey, requestsPerMinute: 60_000 },
    });
    const company = { ...sampleCompany(4), phoneNumber: '10111111', website: 'www.gammel.example', altNames: [] };
    const { entityId } = company;
    const id = fixture.hubspot.add({ cvr_number: entityId.slice('CVR-1-'.length), name: 'Hvad nogen skrev' });
    // Before the record is linked: nobody stands for the company yet, and what is said of it must not be forgotten.
    await fixture.post(reported({ name: { before: company.name, after: 'Nyere Navn ApS' } }, 9, entityId));
    expect((await fixture.cli('backfill', 'hubspot', '--yes', '--send-update')).code).toBe(0);
    expect(service.changes).toEqual([`add hubspot ${entityId} ${id} +update`]);
    // Linked, and before the service states the whole company as it was an hour before.
    await fixture.post(reported({ phoneNumber: { before: '10111111', after: '10222222' } }, 10, entityId));
    await fixture.settled();
    await fixture.post(fullStatePayload(company, hour(8)));
    await fixture.settled();
    expect(fixture.hubspot.get(id)).toMatchObject({
      name: 'Nyere Navn ApS',
      phone: expect.stringContaining('10222222'),
      website: expect.stringContaining('gammel.example'),
    });
    // The same again, whole and newer, is the newest word on every property.
    await fixture.post(fullStatePayload({ ...company, name: 'Nyeste Navn ApS' }, hour(11)));
    await fixture.settled();
    expect(fixture.hubspot.get(id)).toMatchObject({
      name: 'Nyeste Navn ApS',
      phone: expect.stringContaining('10111111'),
    });
    await fixture.post(payloadOf(entityId, hour(10), { website: { before: null, after: 'www.sen.example' } }));
    await fixture.settled();
    expect(fixture.hubspot.get(id)).toMatchObject({ website: expect.stringContaining('gammel.example') });
  });
});
