import { expect, it, onTestFinished } from 'vitest';
import { openTestHttp } from '../../../../../providers/kit/conformance/lab/http.ts';
import { serveEmulator } from '../../../../../providers/kit/emulator/emulator.ts';

const ask = async (more: { readonly showRedirects?: true } = {}) => {
  const { url, close, calls } = await serveEmulator(() => ({
    status: 301,
    headers: { location: '/companies/8' },
    body: { merged_into: 8 },
  }));
  onTestFinished(close);
  const { http } = openTestHttp();
  const answer = http({ method: 'GET', url: `${url}/companies/7`, signal: new AbortController().signal, ...more });
  return { calls, ended: await answer.catch((error: unknown) => error) };
};

it('the HTTP of a subject throws at a redirect, and says that it was one', async () => {
  const { ended, calls } = await ask();
  expect(ended).toMatchObject({ fault: 'unavailable', message: expect.stringMatching(/a redirect \(301\)/) });
  expect(calls).toHaveLength(1);
});

it('the HTTP of a subject shows a redirect on request, and does not follow it', async () => {
  const { ended, calls } = await ask({ showRedirects: true });
  expect(ended).toMatchObject({ status: 301, headers: { location: '/companies/8' }, body: '{"merged_into":8}' });
  expect(calls).toHaveLength(1);
});
