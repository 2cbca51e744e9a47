import { describe, expect, it, vi } from 'vitest';
import { createMetrics } from '../../src/http/metrics.ts';
import { startFixture } from '../support/fixture.ts';
import { SUITE_ENGINES } from '../support/stores.ts';

const MINUTE = 60_000;

/** Metrics measured by `work`, with a clock that is set on by hand. */
function measured(work: (metrics: ReturnType<typeof createMetrics>) => Promise<void>) {
  const metrics = createMetrics();
  const clock = { now: 0 };
  metrics.measureBy(
    () => work(metrics),
    () => clock.now,
  );
  const read = async () => {
    const lines = (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith('cvrsync_'));
    return (name: string) => lines.filter((line) => line.startsWith(`cvrsync_${name}`));
  };
  return { metrics, clock, read };
}

describe('a gauge', () => {
  it('is not exported before its value is known', async () => {
    const { read, metrics } = measured(async ({ walBytes }) => walBytes.set(4_096));
    const samples = await read();
    expect(samples('wal_bytes')).toEqual(['cvrsync_wal_bytes 4096']);
    for (const name of ['disk_free_bytes', 'backlog', 'register_lag_seconds', 'oldest_pending_seconds'])
      expect(samples(name)).toEqual([]);
    const json = await metrics.registry.getMetricsAsJSON();
    expect(json.find(({ name }) => name === 'cvrsync_disk_free_bytes')?.values).toEqual([]);
  });

  it('is measured at most every ten seconds, whoever asks for it', async () => {
    let count = 0;
    const { clock, read, metrics } = measured(async ({ backlog }) => backlog.set(++count));
    expect((await Promise.all([read(), read(), metrics.registry.getMetricsAsJSON()])).length).toBe(3);
    clock.now = 9_999;
    expect((await read())('backlog')).toEqual(['cvrsync_backlog 1']);
    clock.now = 10_000;
    expect((await read())('backlog')).toEqual(['cvrsync_backlog 2']);
  });

  it('keeps its value for a minute while nothing can be measured, then has none until it can', async () => {
    let isDown = false;
    const { clock, read, metrics } = measured(async ({ backlog, lanes }) => {
      if (isDown) throw new Error('the store does not answer');
      backlog.set(7);
      lanes.set({ queue: 'apply', state: 'ready' }, 3);
    });
    metrics.staleEvents.inc(2);
    const known = ['cvrsync_backlog 7', 'cvrsync_work_items{queue="apply",state="ready"} 3'];
    const samples = async () => [...(await read())('backlog'), ...(await read())('work_items')];
    expect(await samples()).toEqual(known);
    isDown = true;
    clock.now = MINUTE;
    expect(await samples()).toEqual(known);
    clock.now = MINUTE + 10_001;
    expect(await samples()).toEqual([]);
    expect((await read())('stale_events_total')).toEqual(['cvrsync_stale_events_total 2']);
    isDown = false;
    clock.now = 2 * MINUTE;
    expect(await samples()).toEqual(known);
  });

  it('does not delay its readers: a store that hangs is asked once, and waited for some seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let asked = 0;
    const { clock, read } = measured(() => {
      asked += 1;
      return new Promise(() => {});
    });
    try {
      for (const now of [0, 2 * MINUTE]) {
        clock.now = now;
        const reading = read();
        await vi.advanceTimersByTimeAsync(3_000);
        expect((await reading)('backlog')).toEqual([]);
      }
    } finally {
      vi.useRealTimers();
    }
    expect(asked).toBe(1);
  });
});

describe.each(SUITE_ENGINES)('the metrics of a connector alone, on %s', (engine) => {
  it('have no value for what is unknown there', async () => {
    const { app } = await startFixture({ engine });
    const text = await (await fetch(`${app.adminUrl}/metrics`)).text();
    const isKnown = (name: string): boolean => new RegExp(`^cvrsync_${name}(?:\\{.*\\})? \\d`, 'mu').test(text);
    expect(['oldest_pending_seconds', 'work_items', 'account_paused'].filter((name) => !isKnown(name))).toEqual([]);
    expect(['register_lag_seconds', 'register_size'].filter(isKnown)).toEqual([]);
    // The disk of a PostgreSQL is another machine's.
    expect(['disk_free_bytes', 'wal_bytes'].map(isKnown)).toEqual([engine === 'sqlite', engine === 'sqlite']);
  });
});
