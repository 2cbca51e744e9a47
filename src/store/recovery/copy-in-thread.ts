/** Copies a store in a thread of its own, while the main thread goes on answering. */
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';

/** A copy to make. */
export interface CopyTask {
  /** The file of the store. */
  readonly from: string;
  /** The file to write; it must not exist. */
  readonly to: string;
  /** Whether to read the copy through once it is made. */
  readonly verify: boolean;
}

/** Makes a copy, and leaves none that is not whole. Throws why it could not, and what the copy is found to lack. */
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
