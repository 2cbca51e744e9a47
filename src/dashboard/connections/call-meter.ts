/** Measures how much of each account's call budget this daemon used in the last minute. */
import type { Metrics } from '../../http/metrics.ts';

const EVERY_MS = 10_000;
const WINDOW_MS = 60_000;

export interface CallMeter {
  /** Calls of the last minute, by connection. */
  read(): Promise<ReadonlyMap<string, number>>;
  stop(): void;
}

interface Sample {
  readonly at: number;
  readonly totals: ReadonlyMap<string, number>;
}

/** Takes a reading every ten seconds until it is stopped. */
export function startCallMeter({ crmCalls }: Pick<Metrics, 'crmCalls'>, elapsed: () => number): CallMeter {
  let samples: readonly Sample[] = [];
  const sample = async (): Promise<Sample> => {
    const now = { at: elapsed(), totals: totalsOf((await crmCalls.get()).values) };
    samples = [...samples.filter(({ at }) => now.at - at <= WINDOW_MS), now];
    return now;
  };
  const timer = setInterval(() => void sample(), EVERY_MS).unref();
  void sample();
  return {
    async read() {
      const { totals } = await sample();
      const before = samples[0]?.totals;
      return new Map([...totals].map(([provider, total]) => [provider, total - (before?.get(provider) ?? 0)]));
    },
    stop: () => clearInterval(timer),
  };
}

function totalsOf(
  values: readonly { readonly value: number; readonly labels: Readonly<Record<string, string | number | undefined>> }[],
): ReadonlyMap<string, number> {
  const totals = new Map<string, number>();
  for (const { value, labels } of values) {
    const provider = String(labels['provider']);
    totals.set(provider, (totals.get(provider) ?? 0) + value);
  }
  return totals;
}
