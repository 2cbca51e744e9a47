/** The addresses of pages that other pages lead to. */

/** Where a company's page is. */
export const companyAddress = (entity: string): string => `/companies/${encodeURIComponent(entity)}`;

/** Where the page of a connection is. */
export const connectionAddress = (name: string): string => `/connections/${encodeURIComponent(name)}`;

/** Where a monitor's page is. */
export const monitorAddress = (id: string): string => `/monitors/${encodeURIComponent(id)}`;

/** Where undoes are. */
export const UNDOES = '/undoes';

/** The page of the accepted configuration. */
export const CONFIGURATION = '/installation/configuration';
