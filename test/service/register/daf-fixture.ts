/** Fixtures for Datafordeler: its emulator, a manual clock, and a source that reads it. */
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  type DatafordelerEmulator,
  type DatafordelerEmulatorOptions,
  serveDatafordeler,
} from '../../../src/commands/emulate/datafordeler/datafordeler.ts';
import { openClient } from '../../../src/http/outbound/client.ts';
import {
  createDatafordelerSource,
  type DatafordelerOptions,
} from '../../../src/service/register/source/datafordeler/feed/datafordeler.ts';
import { createFilesSource } from '../../../src/service/register/source/datafordeler/files/files-source.ts';
import type { RegisterSource } from '../../../src/service/register/source/source.ts';
import { type HandClock, handClock } from '../../support/clock.ts';
import { newFolder, newStore } from '../../support/stores.ts';
import type { SourceFixture } from './source-contract.ts';

const HOUR = 3_600_000;

export interface DafFixture extends SourceFixture {
  readonly emulator: DatafordelerEmulator;
  readonly clock: HandClock;
  page(cursor?: string): ReturnType<RegisterSource['page']>;
  find(...numbers: readonly string[]): Promise<readonly unknown[]>;
}

export const everyone = async (entities: readonly string[]): Promise<ReadonlySet<string>> => new Set(entities);

export async function dafFixture(
  {
    deadlineMs,
    ...options
  }: { readonly [K in keyof DatafordelerOptions]?: DatafordelerOptions[K] | undefined } & {
    readonly deadlineMs?: number;
  } = {},
  emulated: DatafordelerEmulatorOptions = {},
  optionsOf: (emulator: DatafordelerEmulator) => object = () => ({}),
): Promise<DafFixture> {
  const clock = handClock();
  const emulator = await serveDatafordeler({ companies: 0, slowMs: 0, now: clock.now, ...emulated });
  onTestFinished(() => emulator.close());
  const client = openClient();
  onTestFinished(client.close);
  const http: typeof client.http = (request) =>
    client.http(deadlineMs === undefined ? request : { ...request, timeoutMs: deadlineMs });
  const store = await newStore('sqlite');
  const open = () =>
    createDatafordelerSource({
      ...emulator.settings,
      requestsPerSecond: 20_000,
      firstEvent: 0,
      wanted: everyone,
      http,
      store,
      now: clock.now,
      ...options,
      ...optionsOf(emulator),
    } as DatafordelerOptions);
  const source = open();
  onTestFinished(async () => source.close?.());
  const { signal } = new AbortController();
  return {
    emulator,
    clock,
    source,
    reopen: open,
    page: (cursor) => source.page(cursor, signal),
    find: async (...numbers) => [...((await source.find?.(numbers, signal))?.documents ?? [])],
    async tell(documents) {
      for (const document of documents) emulator.put(document, loadedAt(document));
    },
    async breakIt() {
      const strike = { match: 'CVR/v2', times: 1, action: { kind: 'status', status: 503 } } as const;
      emulator.fault(strike);
      emulator.fault(strike);
      return async () => clock.forward(HOUR);
    },
    poll: () => clock.forward(30_000),
  };
}

const loadedAt = (document: unknown): number => {
  const [content] = Object.values(document as Readonly<Record<string, { readonly sidstIndlaest?: string }>>);
  return Date.parse(content?.sidstIndlaest ?? '');
};

export interface WeeklyFixture extends Omit<DafFixture, 'page'> {
  /** Where the files are while they are loaded. */
  readonly folder: string;
}

/** The same source, which loads everything from the weekly files first; what is told is published at once. */
export async function weeklyFixture(
  options: Parameters<typeof dafFixture>[0] = {},
  emulated: DatafordelerEmulatorOptions = {},
  pageSize = 3,
): Promise<WeeklyFixture> {
  const { page: _, ...daf } = await dafFixture(options, emulated);
  const folder = join(newFolder(), 'files');
  const { http, close } = openClient({ deadlineMs: 5_000 });
  onTestFinished(close);
  const store = await newStore('sqlite');
  const now = options.now ?? daf.clock.now;
  const reopen = (): RegisterSource =>
    createFilesSource(daf.reopen(), {
      ...daf.emulator.settings,
      ...{ requestsPerSecond: 20_000, http, store, now, files: folder, pageSize },
    });
  return {
    ...daf,
    folder,
    source: reopen(),
    reopen,
    givesInAnyOrder: true,
    async tell(documents) {
      await daf.tell(documents);
      daf.emulator.publishFiles();
    },
    async breakIt() {
      const { refused } = daf.emulator.files;
      refused.add('list');
      return async () => void refused.delete('list');
    },
  };
}
