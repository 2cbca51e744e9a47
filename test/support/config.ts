/** Configurations for tests: parsed values that are complete, to be changed at one place. */
import { type ConfigLoad, checkConfig, type LoadedConfig } from '../../src/config/load.ts';

/** A HubSpot connection with nothing but what it needs. */
export const hubspotEntry = (more: object = {}): object => ({
  use: 'hubspot',
  accessToken: 'token-of-hubspot',
  ...more,
});

/** A connector with a HubSpot connection, changed by `more`. */
export const connectorWith = (more: object = {}): object => ({
  connector: { webhook: { auth: { method: 'None' } }, providers: { hubspot: hubspotEntry() }, ...more },
});

/** Checks a value as the content of a file in a folder that has nothing else. */
export const check = (value: unknown, env: Readonly<Record<string, string>> = {}): Promise<ConfigLoad> =>
  checkConfig(value, '/nonexistent/cvrsync.yaml', env);

/** The configuration, or an error that lists what is wrong with it. */
export async function checked(value: unknown, env: Readonly<Record<string, string>> = {}): Promise<LoadedConfig> {
  const load = await check(value, env);
  if (load.ok) return load;
  throw new Error(load.errors.map(({ path, message }) => `${path} ${message}`).join('\n'));
}

/** What is wrong, one line each: `path message`. */
export async function problemsOf(value: unknown, env: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const load = await check(value, env);
  return load.ok ? [] : load.errors.map(({ path, message }) => `${path} ${message}`);
}
