import { CONTRACT_VERSION, defineProvider } from '../provider.ts';
import { connectHttp } from './connection.ts';
import { HttpSettings } from './http-settings.ts';
import { httpPreset } from './properties.ts';

/** The provider for an API of your own. Importing it opens nothing. */
export const http = defineProvider({
  name: 'http',
  contract: CONTRACT_VERSION,
  about: 'An API of your own: flat JSON by POST or PUT',
  settings: HttpSettings,
  preset: httpPreset,
  limits: ({ rate, concurrency }) => ({
    batch: { read: 10, update: 10 },
    concurrency,
    budgets: { default: { calls: rate.calls, perMs: rate.perSeconds * 1_000 } },
  }),
  connect: connectHttp,
});
