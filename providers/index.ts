import type { Provider } from './provider.ts';

/** The built-in providers by the name that `use:` takes. Each loads on its first use. */
export const BUILT_IN: Readonly<Record<string, () => Promise<Provider>>> = {
  hubspot: async () => (await import('./hubspot/provider.ts')).hubspot,
  salesforce: async () => (await import('./salesforce/provider.ts')).salesforce,
  http: async () => (await import('./http/provider.ts')).http,
};
