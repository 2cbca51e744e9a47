/** The built-in CRMs by name; nothing of one is loaded before it is asked for. */
import type { Provider } from './provider.ts';

/** Built-in providers; the key is what a configuration's `use:` names. */
export const BUILT_IN: Readonly<Record<string, () => Promise<Provider>>> = {
  hubspot: async () => (await import('./hubspot/provider.ts')).hubspot,
  salesforce: async () => (await import('./salesforce/provider.ts')).salesforce,
  http: async () => (await import('./http/provider.ts')).http,
};
