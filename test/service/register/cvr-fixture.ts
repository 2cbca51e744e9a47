/** A fixture for the register's distribution: its emulator, a manual clock, and a source that reads it. */
import { onTestFinished } from 'vitest';
import { type RegisterEmulator, serveRegister } from '../../../src/commands/emulate/register.ts';
import { openClient } from '../../../src/http/outbound/client.ts';
import { type CvrSourceOptions, createCvrSource } from '../../../src/service/register/source/cvr.ts';
import { type HandClock, handClock } from '../../support/clock.ts';
import { newStore } from '../../support/stores.ts';
import type { SourceFixture } from './source-contract.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const POLL_MS = 30_000;

export interface CvrFixture extends SourceFixture {
  readonly emulator: RegisterEmulator;
  readonly clock: HandClock;
  page(cursor?: string): ReturnType<SourceFixture['source']['page']>;
}

export async function fixtureOf(
  options: Partial<CvrSourceOptions> = {},
  emulated: Parameters<typeof serveRegister>[0] = {},
  client: Parameters<typeof openClient>[0] = {},
): Promise<CvrFixture> {
  const emulator = await serveRegister({ companies: 0, ...emulated });
  onTestFinished(() => emulator.close());
  const { http, close } = openClient(client);
  onTestFinished(close);
  const store = await newStore('sqlite');
  const clock = handClock();
  const open = () =>
    createCvrSource({
      ...emulator.settings,
      pageSize: 4,
      requestsPerSecond: 2_000,
      pollMs: POLL_MS,
      http,
      store,
      now: clock.now,
      ...options,
    });
  const source = open();
  return {
    emulator,
    clock,
    source,
    reopen: open,
    page: (cursor) => source.page(cursor, new AbortController().signal),
    async tell(documents) {
      for (const document of documents) emulator.put(document);
    },
    async breakIt() {
      const strike = () => emulator.fault({ match: '_search', times: 1, action: { kind: 'status', status: 503 } });
      strike();
      strike();
      return async () => clock.forward(HOUR);
    },
    poll: () => clock.forward(POLL_MS),
  };
}
