import { describe, expect, it } from 'vitest';
import { processingRecord } from '../../../src/commands/config/processing-record.ts';
import { checked, connectorWith, hubspotEntry } from '../../support/config.ts';

const recordOf = async (value: object, env = {}): Promise<readonly string[]> =>
  processingRecord((await checked(value, env)).config, '2026-11-23').split('\n');

const lines = (record: readonly string[], start: string): readonly string[] =>
  record.filter((line) => line.startsWith(`- ${start}`));

describe('the record of processing', () => {
  it('names the written data of each CRM, and whether it contains persons', async () => {
    const fields = { owners: { property: 'ejere' }, phone: false };
    const own = hubspotEntry({ persons: true, fields });
    const record = await recordOf(connectorWith({ providers: { crm: own } }));
    expect(lines(record, 'Written into crm:').join()).toContain('owners with their shares');
    expect(lines(record, 'Written into crm:').join()).not.toContain('phone');
    expect(lines(record, 'Persons named')).toEqual(['- Persons named with companies are written into crm.']);
  });

  it('names the legal basis of beneficial owners, or says that none are processed', async () => {
    expect(lines(await recordOf(connectorWith()), 'Beneficial')).toEqual(['- Beneficial owners: not processed.']);
    const beneficialOwners = { legalBasis: 'obliged entity,\n customer due diligence' };
    expect(lines(await recordOf({ ...connectorWith(), beneficialOwners }), 'Beneficial')).toEqual([
      '- Beneficial owners: obliged entity, customer due diligence',
    ]);
  });

  it('lists the recipients of data by host, without secrets', async () => {
    const record = await recordOf({
      ...connectorWith({ upstream: { baseUrl: 'https://service.example.com/v1', accessKey: 'key-of-upstream' } }),
      alerts: { webhook: 'https://hooks.example.com/secret-path' },
      telemetry: { endpoint: 'https://otlp.example.com', headers: { authorization: 'otlp-secret' } },
      store: 'postgres://cvrsync:password-of-store@db.example.com/cvrsync',
    });
    const text = record.join('\n');
    for (const host of ['service.example.com', 'hooks.example.com', 'otlp.example.com']) expect(text).toContain(host);
    expect(text).toContain('a PostgreSQL database');
    for (const secret of ['token-of-hubspot', 'key-of-upstream', 'secret-path', 'otlp-secret', 'password-of-store'])
      expect(text).not.toContain(secret);
  });

  it('lists the configured retention of each kind', async () => {
    const record = await recordOf({ ...connectorWith(), retention: { decisions: 700, news: 365 } });
    expect(lines(record, 'decisions:')).toEqual(['- decisions: 700 days']);
    expect(lines(record, 'news:')).toEqual(['- news: 365 days']);
    expect(lines(record, 'receipts:')).toEqual(['- receipts: 90 days']);
  });
});
