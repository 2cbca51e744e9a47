import { describe, expect, it } from 'vitest';
import { checked, connectorWith, problemsOf } from '../support/config.ts';

describe('alerts in a configuration', () => {
  const register = { source: 'file', path: 'register' };
  const smtp = { url: 'smtp://mail.example.com', from: 'cvrsync@example.com' };

  it('use the mail server of the service if they name none', async () => {
    const { config } = await checked({ service: { register, smtp }, alerts: { mail: { to: ['ops@example.com'] } } });
    expect(config.alerts).toEqual({
      mail: { to: ['ops@example.com'], ...smtp },
      allow: [],
      reviewOver: 100,
      registerBehindMinutes: 60,
    });
  });

  it('that would reach nobody are refused, and so is mail without a server', async () => {
    expect(await problemsOf({ ...connectorWith(), alerts: {} })).toEqual([
      expect.stringMatching(/^alerts would reach nobody/u),
    ]);
    expect(await problemsOf({ ...connectorWith(), alerts: { mail: { to: ['ops@example.com'] } } })).toEqual([
      expect.stringMatching(/^alerts\.mail\.url is missing/u),
      expect.stringMatching(/^alerts\.mail\.from is missing/u),
    ]);
  });

  it('keep the address of the webhook secret, because it is enough to post there', async () => {
    const webhook = 'https://hooks.example.com/services/T0/B0/secret-path';
    expect((await checked({ ...connectorWith(), alerts: { webhook } })).secrets).toContain(webhook);
  });
});
