import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { openClient } from '../../../../../src/http/outbound/client.ts';
import { openAccess } from '../../../../../src/service/register/source/datafordeler/feed/access.ts';
import { createAuthority } from '../../../../support/certificates.ts';

it('a token is requested with the certificate, and renewed before it expires', async () => {
  const authority = createAuthority('Prøve CA');
  const own = authority.issue('localhost');
  const client = authority.issue('cvrsync.example');
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, authority.certificate]);
  onTestFinished(() => setDefaultCACertificates(before));
  const asked: string[] = [];
  const server = createServer(
    { key: own.key, cert: own.certificate, ca: authority.certificate, requestCert: true, rejectUnauthorized: true },
    (request, response) => {
      const { socket } = request;
      asked.push(String((socket as TLSSocket).getPeerCertificate().subject.CN));
      response.end(JSON.stringify({ access_token: `token-${asked.length}`, expires_in: 300 }));
    },
  );
  await once(server.listen(0), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { http, close } = openClient();
  onTestFinished(close);
  let now = 0;
  const tokenUrl = `https://localhost:${port}/realms/distribution`;
  const oauth = { clientId: 'cvrsync', certificate: client.certificate, certificateKey: client.key };
  const access = openAccess({ oauth, tokenUrl }, { http, now: () => now });
  onTestFinished(access.close);
  const signed = async () => (await access.sign('https://graphql.example', new AbortController().signal)).headers;
  expect(await signed()).toEqual({ authorization: 'Bearer token-1' });
  now += 269_000;
  expect(await signed()).toEqual({ authorization: 'Bearer token-1' });
  now += 2_000;
  expect(await signed()).toEqual({ authorization: 'Bearer token-2' });
  expect(asked).toEqual(['cvrsync.example', 'cvrsync.example']);
  const without = openAccess({ oauth: { clientId: 'cvrsync', clientSecret: 's' }, tokenUrl }, { http, now: () => now });
  await expect(without.sign('https://graphql.example', new AbortController().signal)).rejects.toMatchObject({
    name: 'SourceError',
  });
});
