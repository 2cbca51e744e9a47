import type { CrmEmulator, EmulatorOptions } from './emulator/emulator.ts';

/** Starts the emulator of a built-in CRM, which loads on its first use. */
export const EMULATORS: Readonly<Record<string, (options: EmulatorOptions) => Promise<CrmEmulator>>> = {
  hubspot: async (options) => (await import('./hubspot/emulator.ts')).startHubspotEmulator(options),
  salesforce: async (options) => (await import('./salesforce/emulator.ts')).startSalesforceEmulator(options),
  http: async (options) => (await import('./http/emulator.ts')).startHttpEmulator(options),
};
