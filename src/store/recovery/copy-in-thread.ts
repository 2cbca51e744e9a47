/** Copies a store in a worker thread, so that the main thread keeps answering. */
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';

export interface CopyTask {
  /** The store. */
  readonly from: string;
  /** The copy; must not exist. */
  readonly to: string;
  /** Whether to read the whole copy afterwards. */
  readonly verify: boolean;
}

/** Makes a copy, or throws and leaves no incomplete one. */
export async function copyInThread(task: CopyTask, signal: AbortSignal): Promise<void> {
  const thread = new Worker(new URL(`./copy-worker${import.meta.url.slice(-3)}`, import.meta.url), {
    workerData: task,
  });
  try {
    await once(thread, 'exit', { signal });
  } catch (error) {
    await thread.terminate();
    for (const end of ['', '.partial', '.partial-journal']) await rm(`${task.to}${end}`, { force: true });
    throw error;
  }
}
