/** The program as tests start it: from its sources, in a process of its own, with nothing of our environment. */
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

export const ENTRY = join(ROOT, 'src/cvrsync.js');

/** Compiled code is kept from one start to the next: tests make hundreds, and a good third of what one takes is compiling. */
export const ENVIRONMENT = { NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/cvrsync-compiled') };
