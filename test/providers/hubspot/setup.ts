/** An emulated HubSpot account and a connection to it, closed after the test. */
import { Value } from 'typebox/value';
import { onTestFinished } from 'vitest';
import { HubspotSettings } from '../../../providers/hubspot/client/hubspot-settings.ts';
import { hubspot } from '../../../providers/hubspot/provider.ts';
import type { HubspotEmulatorOptions } from '../../../providers/kit/hubspot/account/options.ts';
import { type HubspotEmulator, startHubspotEmulator } from '../../../providers/kit/hubspot/emulator.ts';
import { type Connection, type Http, ProviderError } from '../../../providers/provider.ts';
import { type CountedHttp, openHttp } from '../../support/http.ts';

/** Settings with their defaults, as the configuration fills them in. */
export const settingsOf = (settings: Record<string, unknown>): HubspotSettings =>
  Value.Parse(HubspotSettings, Value.Default(HubspotSettings, settings));

export const live = (): AbortSignal => new AbortController().signal;

export const connectTo = (
  settings: Record<string, unknown>,
  http: Http,
  now: () => number = Date.now,
): Promise<Connection> =>
  hubspot.connect(settingsOf(settings), { http, now, keep: { get: async () => undefined, set: async () => {} } });

export interface Bench {
  readonly emulator: HubspotEmulator;
  readonly connection: Connection;
  readonly http: CountedHttp;
  /** `METHOD path` of the calls since the last look. */
  calls(): string[];
}

/** No rate limit unless asked for; property definitions are read already. */
export async function openBench(
  options: HubspotEmulatorOptions = {},
  settings: Record<string, unknown> = {},
): Promise<Bench> {
  const emulator = await startHubspotEmulator({ rate: 'none', ...options });
  const http = openHttp();
  onTestFinished(async () => {
    await emulator.close();
    await http.close();
  });
  const connection = await connectTo({ ...emulator.settings, ...settings }, http.http, options.now);
  await connection.properties(live());
  let seen = emulator.calls.length;
  const calls = () => {
    const fresh = emulator.calls.slice(seen).map(({ method, path }) => `${method} ${path.replace(/\?.*/, '')}`);
    seen = emulator.calls.length;
    return fresh;
  };
  return { emulator, connection, http, calls };
}

/** The fault a promise ends with; fails the test where it ends otherwise. */
export async function faultFrom(work: Promise<unknown>): Promise<ProviderError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ProviderError)) throw new Error(`expected a ProviderError, got ${String(error)}`);
  return error;
}
