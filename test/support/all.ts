/** Whether this run is the nightly one, `npm run test:all`, which also tries what takes too long for every change. */
export const ALL = process.env['CVRSYNC_TEST_ALL'] !== undefined;
