/** The worker thread that copies a store and verifies the copy. */
import { workerData } from 'node:worker_threads';
import { copyStore } from './copy.ts';
import type { CopyTask } from './copy-in-thread.ts';
import { checkCopy } from './restore.ts';

async function makeCopy({ from, to, verify }: CopyTask): Promise<void> {
  await copyStore(from, to);
  if (verify) checkCopy(to, to);
}

await makeCopy(workerData as CopyTask);
