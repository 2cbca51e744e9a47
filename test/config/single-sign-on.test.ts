/** The requirements of the keys of single sign-on. */
import { describe, expect, it } from 'vitest';
import { checked, connectorWith, problemsOf } from '../support/config.ts';

describe('single sign-on', () => {
  const oidc = { issuer: 'https://login.example.com', clientId: 'cvrsync', clientSecret: 'sesame' };

  it('asks for the profile and reads the claim `roles` by default', async () => {
    const admin = { publicUrl: 'https://cvrsync.example.com', oidc: { ...oidc, roles: { viewer: ['crm'] } } };
    const { config } = await checked({ ...connectorWith(), admin });
    expect(config.admin.oidc).toMatchObject({ scope: 'openid profile email', roleClaim: 'roles' });
  });

  it('needs the address that browsers return to, and a value that grants access', async () => {
    expect(await problemsOf({ ...connectorWith(), admin: { oidc: { ...oidc, roles: {} } } })).toEqual([
      'admin.publicUrl is missing: the issuer of admin.oidc sends browsers back there',
      'admin.oidc.roles would let nobody in: name values for viewer, operator or admin',
    ]);
  });
});
