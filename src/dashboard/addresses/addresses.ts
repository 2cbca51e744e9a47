/** The addresses of pages that other pages lead to. */

/** Where a company's page is. */
export const companyAddress = (entity: string): string => `/companies/${encodeURIComponent(entity)}`;

/** Where the page of a connection is. */
export const connectionAddress = (name: string): string => `/connections/${encodeURIComponent(name)}`;

/** Where a monitor's page is. */
export const monitorAddress = (id: string): string => `/monitors/${encodeURIComponent(id)}`;

/** The page of the accepted configuration. */
export const CONFIGURATION = '/installation/configuration';

/** Where all that can be changed is reached. */
export const SETTINGS = '/settings';

/** Changes that are not saved. */
export const SETTINGS_CHANGES = '/settings/changes';

/** Where runs are. */
export const RUNS = '/runs';

/** Where the page of a run is. */
export const runAddress = (id: number | string): string => `${RUNS}/${id}`;
