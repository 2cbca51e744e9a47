import { describe, expect, it } from 'vitest';
import { configDigests } from '../../src/config/digests.ts';
import { wireOf } from '../../src/config/load.ts';
import { checked, connectorWith, hubspotEntry, problemsOf } from '../support/config.ts';

const mapped = connectorWith({
  providers: { hubspot: hubspotEntry({ persons: true, fields: { trueOwners: 'reelle' } }) },
});
const beneficialOwners = { legalBasis: 'obliged entity, customer due diligence' };

describe('beneficial owners', () => {
  it('may be mapped only with a legal basis', async () => {
    expect(await problemsOf(mapped)).toEqual([
      'connector.providers.hubspot.fields.trueOwners reelle would hold beneficial owners: state in beneficialOwners.legalBasis why you may have them, or set trueOwners: false',
    ]);
    expect(await problemsOf({ ...mapped, beneficialOwners })).toEqual([]);
  });

  it('need a legal basis of at least 20 characters', async () => {
    const problems = await problemsOf({ ...mapped, beneficialOwners: { legalBasis: 'yes' } });
    expect(problems[0]).toContain('beneficialOwners.legalBasis');
  });

  it('are a difference between daemons if one has a legal basis, and none if no daemon has', async () => {
    const { config } = await checked(connectorWith());
    const partsOf = async (each: typeof config) => (await configDigests(each, 'salt'))['connector'] ?? {};
    const { beneficialOwners: without, ...others } = await partsOf(config);
    const { beneficialOwners: digest, ...same } = await partsOf({ ...config, beneficialOwners });
    expect([without, digest]).toEqual([expect.any(String), expect.any(String)]);
    expect(digest).not.toBe(without);
    expect(same).toEqual(others);
  });

  it('are read from webhooks with a legal basis only', async () => {
    const { config } = await checked(connectorWith());
    expect(wireOf(config)).toEqual({ emailEvent: 'email', beneficialOwners: false });
    expect(wireOf({ ...config, beneficialOwners })).toMatchObject({ beneficialOwners: true });
  });
});
