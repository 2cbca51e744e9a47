/** How a provider's connection is opened: what goes wrong says which connection it is and why, without its secrets. */
import { expect, it } from 'vitest';
import { type Provider, ProviderError } from '../../../providers/provider.ts';
import { ProviderBug } from '../../../src/connector/crm/answer-check/provider-bug.ts';
import { connectProvider, limitsOf } from '../../../src/connector/crm/connect.ts';
import { raw } from './sound-connection.ts';

const mask = (text: string): string => text.replaceAll('hemmelig', '***');
const context = {} as never;
const configured = (provider: Partial<Provider>) => {
  const sound = { limits: () => undefined as never, connect: raw(undefined) };
  return { name: 'crm', settings: {}, mask, provider: { ...sound, ...provider } };
};
const connecting = (connect: Provider['connect']) =>
  connectProvider(configured({ connect }), context).catch((error: unknown) => error);

it('reports why a provider cannot connect, without its secrets', async () => {
  const error = await connecting(() => Promise.reject(new Error('no key hemmelig')));
  expect(error).toMatchObject({ message: 'connector.providers.crm: its provider could not connect: no key ***' });
  expect(error).not.toBeInstanceOf(ProviderBug);
});

it('recognises a fault of another copy of this package', async () => {
  const theirs = Object.assign(new Error('hemmelig is refused'), { name: 'ProviderError', fault: 'auth' });
  const error = await connecting(() => Promise.reject(theirs));
  expect(error).toBeInstanceOf(ProviderError);
  expect(error).toMatchObject({ fault: 'auth', message: '*** is refused' });
});

it('refuses an invalid connection as a bug of the provider', async () => {
  expect(await connecting(raw(undefined))).toBeInstanceOf(ProviderBug);
});

it('treats limits that throw as a bug of the provider', () => {
  const limits = () => {
    throw new TypeError('no edition hemmelig');
  };
  expect(() => limitsOf(configured({ limits }))).toThrow(
    new ProviderBug('connector.providers.crm: its limits failed, which is a bug of the provider: no edition ***'),
  );
});
