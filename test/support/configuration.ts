/** What operations on the configuration need, in a test whose configuration is empty. */
import type { ConfigNeeds } from '../../src/operations/installation/configuration.ts';

export const NO_CONFIGURATION: ConfigNeeds['configuration'] = {
  rules: () => [],
  parts: async () => ({ digests: {}, content: {} }),
  openCrm: (name) => Promise.reject(new Error(`${name} is not configured`)),
};
