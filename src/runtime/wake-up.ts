import { pause } from './limits/pause.ts';

/** Wakes the workers of this process when a queue has work. Only a hint: workers poll for work of other processes. */
export interface WakeUp {
  ring(queue: string): void;
  ringAll(): void;
  /**
   * Resolves at a ring, after `ms`, at the abort, or when the poll finds work. A ring without a waiter ends the next
   * wait at once.
   */
  wait(queue: string, ms: number, signal: AbortSignal, poll?: Poll): Promise<void>;
}

/**
 * A query for work without a ring. All waiting workers share one, so that an idle process queries the store once.
 */
export interface Poll {
  readonly everyMs: number;
  /** Which of these queues have work. Never rejects. */
  busy(queues: readonly string[]): Promise<readonly string[]>;
}

export function createWakeUp(): WakeUp {
  const rung = new Set<string>();
  const waiting = new Map<string, Set<() => void>>();
  let isPolling = false;

  function wake(queue: string): boolean {
    const listeners = waiting.get(queue) ?? new Set();
    for (const each of listeners) each();
    return listeners.size > 0;
  }

  const ring = (queue: string): void => {
    if (!wake(queue)) rung.add(queue);
  };

  function pollLater(poll: Poll): void {
    if (isPolling) return;
    isPolling = true;
    setTimeout(async () => {
      const queues = [...waiting].filter(([, { size }]) => size > 0).map(([queue]) => queue);
      if (queues.length > 0) for (const queue of await poll.busy(queues)) wake(queue);
      isPolling = false;
      // The first worker to wait again starts the poll again.
      if ([...waiting.values()].some(({ size }) => size > 0)) pollLater(poll);
    }, poll.everyMs).unref();
  }

  return {
    ring,
    ringAll() {
      for (const queue of waiting.keys()) ring(queue);
    },
    async wait(queue, ms, signal, poll) {
      if (rung.delete(queue) || signal.aborted) return;
      const listeners = waiting.get(queue) ?? new Set();
      waiting.set(queue, listeners);
      const heard = new AbortController();
      // With a reason: without one, each abort would make an error with its stack, at thousands of wake-ups.
      const wakeThis = () => heard.abort('rung');
      listeners.add(wakeThis);
      signal.addEventListener('abort', wakeThis);
      if (poll !== undefined) pollLater(poll);
      await pause(ms, heard.signal);
      signal.removeEventListener('abort', wakeThis);
      listeners.delete(wakeThis);
    },
  };
}
