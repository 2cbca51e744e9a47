/** An emulated org, a connection to it and the means to look at both; everything is closed after the test. */
import { Value } from 'typebox/value';
import { onTestFinished } from 'vitest';
import { type SalesforceEmulator, startSalesforceEmulator } from '../../../providers/kit/salesforce/emulator.ts';
import type { SalesforceEmulatorOptions } from '../../../providers/kit/salesforce/org/org.ts';
import type { Connection, Http, HttpRequest } from '../../../providers/provider.ts';
import { SalesforceSettings } from '../../../providers/salesforce/client/salesforce-settings.ts';
import { salesforce } from '../../../providers/salesforce/provider.ts';
import { openHttp } from '../../support/http.ts';

export interface Bench {
  readonly emulator: SalesforceEmulator;
  readonly connection: Connection;
  /** What the store holds for the connection; a second one may be opened on it. */
  readonly kept: Map<string, string>;
  readonly requests: readonly HttpRequest[];
  /** Time of the emulator and the connection, in ms; moves only when told. */
  readonly clock: { now: number };
  readonly http: Http;
  /** Another connection, with settings and Http of its own where given. */
  connect(settings?: Record<string, unknown>, http?: Http): Promise<Connection>;
}

/** A signal that never ends. */
export const live = (): AbortSignal => new AbortController().signal;

/** Opens an org and a connection. */
export async function openBench(
  options: SalesforceEmulatorOptions = {},
  settings: Record<string, unknown> = {},
): Promise<Bench> {
  const clock = { now: Date.parse('2026-10-01T08:00:00Z') };
  const emulator = await startSalesforceEmulator({ now: () => clock.now, ...options });
  const counted = openHttp();
  onTestFinished(async () => {
    await emulator.close();
    await counted.close();
  });
  const kept = new Map<string, string>();
  const keep = {
    get: async (key: string) => kept.get(key),
    set: async (key: string, value: string) => void kept.set(key, value),
  };
  const connect = (more: Record<string, unknown> = {}, http: Http = counted.http) =>
    salesforce.connect(settingsOf({ ...emulator.settings, ...settings, ...more }), {
      http,
      keep,
      now: () => clock.now,
    });
  const connection = await connect();
  return { emulator, connection, kept, requests: counted.requests, clock, http: counted.http, connect };
}

/** Settings with defaults, checked as a configuration is. */
export function settingsOf(given: Record<string, unknown>): SalesforceSettings {
  const filled = Value.Default(SalesforceSettings, structuredClone(given));
  if (!Value.Check(SalesforceSettings, filled)) throw new Error('the settings of the emulator do not fit the schema');
  return filled;
}

/** The paths asked for, without the query. */
export const paths = (requests: readonly HttpRequest[]): readonly string[] =>
  requests.map(({ method, url }) => `${method} ${new URL(url).pathname}`);
