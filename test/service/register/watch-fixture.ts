/** A fixture for the watcher: a store, a manual clock, and documents from a file. */
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { documentOf } from '../../../src/commands/emulate/sample/document.ts';
import type { Version } from '../../../src/commands/emulate/sample/value-runs.ts';
import { createMetrics } from '../../../src/http/metrics.ts';
import type { Updates } from '../../../src/protocol/payload.ts';
import { type SampleCompany, sampleCompany } from '../../../src/protocol/sample/company.ts';
import { claim } from '../../../src/runtime/lanes/lanes.ts';
import { createWakeUp } from '../../../src/runtime/wake-up.ts';
import { createFileSource } from '../../../src/service/register/source/file.ts';
import type { RegisterSource } from '../../../src/service/register/source/source.ts';
import { markWatch, registerTasks, type WatchDeps } from '../../../src/service/register/watch/watch.ts';
import type { Store } from '../../../src/store/store.ts';
import { newFolder } from '../../support/stores.ts';

/** When the fixture's clock starts: noon of a Monday in Copenhagen. */
export const START = Date.UTC(2026, 4, 4, 10);
export const DAY = 86_400_000;

export interface Told {
  readonly entity: string;
  readonly name: string;
  readonly updates: Updates;
}

export interface WatchFixture {
  readonly store: Store;
  readonly deps: WatchDeps;
  readonly source: RegisterSource;
  readonly sources: readonly RegisterSource[];
  readonly warnings: string[];
  forward(ms: number): void;
  now(): number;
  /** Writes documents to the file that the fixture's own source reads. */
  tell(...documents: readonly unknown[]): Promise<void>;
  /** Runs the lane's pages until none waits; returns how many ran. `before` is called before each. */
  run(key?: string, before?: () => void): Promise<number>;
  /** All changes so far, in order. */
  changes(): Promise<readonly Told[]>;
  /** The events of all changes so far, as `CVR-1-… name`. */
  events(): Promise<readonly string[]>;
  counts(): Promise<Readonly<Record<string, number>>>;
}

export interface WatchOptions extends Partial<WatchDeps> {
  readonly source?: (now: () => number) => RegisterSource;
  /** Instead of one source several, the leading first. */
  readonly sources?: (now: () => number) => Promise<readonly [RegisterSource, ...RegisterSource[]]>;
  readonly pageSize?: number;
  readonly folder?: string;
}

export async function setWatch(store: Store, options: WatchOptions = {}): Promise<WatchFixture> {
  const { source: open, sources: openAll, pageSize = 500, folder = newFolder(), ...given } = options;
  let ahead = 0;
  const began = Date.now();
  const now = () => START + ahead + Date.now() - began;
  const file = join(folder, 'register.ndjson');
  await writeFile(file, '', { flag: 'a' });
  const all = (await openAll?.(now)) ?? ([open?.(now) ?? createFileSource(file, { pageSize })] as const);
  const [source] = all;
  const warnings: string[] = [];
  const say = (_: object, message: string) => void warnings.push(message);
  const deps: WatchDeps = {
    store,
    wakeUp: createWakeUp(),
    metrics: createMetrics(),
    log: { info: say, warn: say, error: say },
    now,
    placeType: 'Place',
    recodingGuard: true,
    beneficialOwners: true,
    ...(openAll && { origins: [...new Set(all.map(({ origin }) => origin))] }),
    ...given,
  };
  const tasks = registerTasks(
    deps,
    all.map((each) => ({ source: each, pollMs: 60_000 })),
  );
  const changes = async (): Promise<readonly Told[]> => {
    const rows = await deps.store.db.selectFrom('change').selectAll().orderBy('seq').execute();
    return rows.map(({ entity, name, updates }) => ({ entity, name, updates: JSON.parse(updates) }));
  };
  return {
    store,
    deps,
    source,
    sources: all,
    warnings,
    now,
    forward(ms) {
      ahead += ms;
    },
    tell: (...documents) => appendFile(file, documents.map((one) => `${JSON.stringify(one)}\n`).join('')),
    async run(key = source.name, before = () => {}) {
      await deps.store.write((tx) => markWatch(tx, { [key]: async () => {} }, now()));
      for (let ran = 0; ; ran++) {
        const [held] = await claim(deps.store, 'watch', { limit: 1, now: now(), leaseMs: 30_000, keys: [key] });
        if (held === undefined) return ran;
        before();
        await tasks[key]?.(held, new AbortController().signal);
      }
    },
    changes,
    events: async () =>
      (await changes()).flatMap(({ entity, updates }) => Object.keys(updates).map((event) => `${entity} ${event}`)),
    async counts() {
      const { values } = await deps.metrics.documents.get();
      return Object.fromEntries(values.map(({ labels, value }) => [String(labels.result), value]));
    },
  };
}

/** An old company, as it was from 2019 on. */
export const oldCompany = (seed: number, changes: Partial<SampleCompany> = {}): SampleCompany => ({
  ...sampleCompany(seed),
  started: '2019-03-01T00:00:00',
  ...changes,
});

/** Companies of the seeds from one on, each with a number of its own: some seeds make a company with the same one. */
export function* oldCompanies(seed: number, changes: Partial<SampleCompany> = {}): Generator<SampleCompany, never> {
  const had = new Set<string>();
  for (let next = seed; ; next++) {
    const company = oldCompany(next, changes);
    if (had.has(company.entityId)) continue;
    had.add(company.entityId);
    yield company;
  }
}

/** The first version of a company, and later ones that differ in what is given; each from a day on. */
export function life(
  company: SampleCompany,
  ...later: readonly { readonly from: string; readonly at?: number; readonly is: Partial<SampleCompany> }[]
): [Version, ...Version[]] {
  const from = company.started.slice(0, 10);
  const versions: [Version, ...Version[]] = [{ company, from, at: Date.parse(from) + DAY / 2 }];
  for (const one of later) {
    const before = versions.at(-1)?.company ?? company;
    versions.push({ company: { ...before, ...one.is }, from: one.from, at: one.at ?? Date.parse(one.from) + DAY / 2 });
  }
  return versions;
}

/** The document of a company that was loaded some seconds after the fixture's start (or before it). */
export const loaded = (versions: [Version, ...Version[]], seconds: number): unknown =>
  documentOf(versions, { loadedAt: START + seconds * 1_000 });
