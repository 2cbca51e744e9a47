import { pause } from './limits/pause.ts';

/**
 * Tells the workers of this process that a queue has work. Only a hint: they also poll, for work of other processes.
 */
export interface WakeUp {
  ring(queue: string): void;
  ringAll(): void;
  /** Resolves at a ring, after `ms` or at the abort. A ring that nobody waited for ends the next wait at once. */
  wait(queue: string, ms: number, signal: AbortSignal): Promise<void>;
}

export function createWakeUp(): WakeUp {
  const rung = new Set<string>();
  const waiting = new Map<string, Set<() => void>>();
  function ring(queue: string): void {
    const listeners = waiting.get(queue);
    if (listeners === undefined || listeners.size === 0) rung.add(queue);
    else for (const wake of listeners) wake();
  }
  return {
    ring,
    ringAll() {
      for (const queue of waiting.keys()) ring(queue);
    },
    async wait(queue, ms, signal) {
      if (rung.delete(queue) || signal.aborted) return;
      const listeners = waiting.get(queue) ?? new Set();
      waiting.set(queue, listeners);
      const heard = new AbortController();
      const wake = () => heard.abort();
      listeners.add(wake);
      signal.addEventListener('abort', wake);
      await pause(ms, heard.signal);
      signal.removeEventListener('abort', wake);
      listeners.delete(wake);
    },
  };
}
