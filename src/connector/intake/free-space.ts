const MIB = 1024 * 1024;

/** With less, cvrsync refuses events, so that running work can go on. */
export const MIN_FREE_BYTES = 256 * MIB;

/** Undefined if there is enough space, or the disk cannot be measured. */
export const lackOfSpace = (freeBytes: number | undefined, minFreeBytes = MIN_FREE_BYTES): string | undefined =>
  freeBytes === undefined || freeBytes >= minFreeBytes
    ? undefined
    : `${Math.floor(freeBytes / MIB)} MiB are free on the disk of the store, ${Math.ceil(minFreeBytes / MIB)} MiB are needed`;
