/** How much of the store's disk must be free for webhooks to be taken in. */
const MIB = 1024 * 1024;

/** Below this much free disk events are refused, so that the work in hand can go on. */
export const MIN_FREE_BYTES = 256 * MIB;

/** Why events are refused for lack of disk; undefined if there is enough, and where the disk is not ours to measure. */
export const lackOfSpace = (freeBytes: number | undefined, minFreeBytes = MIN_FREE_BYTES): string | undefined =>
  freeBytes === undefined || freeBytes >= minFreeBytes
    ? undefined
    : `${Math.floor(freeBytes / MIB)} MiB are free on the disk of the store, ${Math.ceil(minFreeBytes / MIB)} MiB are needed`;
