import { describe, expect, it } from 'vitest';
import { connectorWith, problemsOf } from '../support/config.ts';

const serviceWith = (more: object): object => ({
  service: { register: { source: 'file', path: 'register' }, ...more },
});

describe('the name of the e-mail event', () => {
  it.each(['email', 'Email', 'companyMail'])('may be %s', async (emailEvent) => {
    expect(await problemsOf({ ...connectorWith({ emailEvent }), ...serviceWith({ emailEvent }) })).toEqual([]);
  });

  it.each([
    ['fax', 'fax'],
    ['PhoneNumber', 'phoneNumber'],
    ['productionUnit', 'pUnitUpdated'],
  ])('may not be %s, which another event has, in either half', async (emailEvent, event) => {
    const problem = `is the name of the event ${event}: give the e-mail event another name, or leave this out for email`;
    expect(await problemsOf({ ...connectorWith({ emailEvent }), ...serviceWith({ emailEvent }) })).toEqual([
      `connector.emailEvent ${problem}`,
      `service.emailEvent ${problem}`,
    ]);
  });

  it('must be one that the connector reads if the service of the same configuration sends it', async () => {
    const service = serviceWith({ emailEvent: 'companyMail' });
    const upstream = { baseUrl: 'https://service.example.com', accessKey: 'key' };
    expect(await problemsOf({ ...connectorWith(), ...service })).toEqual([
      'connector.emailEvent differs from service.emailEvent, the name that the service sends to this connector: write the same',
    ]);
    expect(await problemsOf({ ...connectorWith({ emailEvent: 'mail' }), ...serviceWith({}) })).toEqual([]);
    expect(await problemsOf({ ...connectorWith({ upstream }), ...service })).toEqual([]);
  });
});
