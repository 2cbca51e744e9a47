/** Copies a store in a thread of its own, and verifies the copy: both read all of it. */
import { workerData } from 'node:worker_threads';
import { copyStore } from './copy.ts';
import type { CopyTask } from './copy-in-thread.ts';
import { checkCopy } from './restore.ts';

async function makeCopy({ from, to, verify }: CopyTask): Promise<void> {
  await copyStore(from, to);
  if (verify) checkCopy(to, to);
}

// What the thread is started with.
await makeCopy(workerData as CopyTask);
