/** The built-in CRMs by name; nothing of one is loaded before it is asked for. */
import type { CrmEmulator, EmulatorOptions } from './emulator.ts';
import type { Provider } from './provider.ts';

/** Built-in providers; the key is what a configuration's `use:` names. */
export const BUILT_IN: Readonly<Record<string, () => Promise<Provider>>> = {
  hubspot: async () => (await import('./hubspot/provider.ts')).hubspot,
  salesforce: async () => (await import('./salesforce/provider.ts')).salesforce,
  http: async () => (await import('./http/provider.ts')).http,
};

/** Starts the emulator of a built-in CRM. */
export const EMULATORS: Readonly<Record<string, (options: EmulatorOptions) => Promise<CrmEmulator>>> = {
  hubspot: async (options) => (await import('./hubspot/emulator/emulator.ts')).startHubspotEmulator(options),
  salesforce: async (options) => (await import('./salesforce/emulator/emulator.ts')).startSalesforceEmulator(options),
  http: async (options) => (await import('./http/emulator/emulator.ts')).startHttpEmulator(options),
};
