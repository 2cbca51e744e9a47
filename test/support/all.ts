/** Whether this run is the nightly one, `npm run test:all`, which also tries what takes too long for every change. */
export const ALL = process.env['CVRSYNC_TEST_ALL'] !== undefined;

/**
 * The cases that a test tries with one of both CRMs: all of them by night. In the suite they are dealt out by turns, so that
 * each case is tried with one CRM, and each CRM with half of the cases.
 */
export const casesOf = <T>(crm: 'hubspot' | 'salesforce', cases: readonly T[]): readonly T[] =>
  ALL ? cases : cases.filter((_, at) => at % 2 === (crm === 'hubspot' ? 0 : 1));

/** How often fast-check tries what needs a store: so often by night, and a quarter of it in the suite, where it tries the same each time. */
export const runs = (byNight: number): number => (ALL ? byNight : Math.ceil(byNight / 4));
