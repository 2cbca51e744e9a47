export const companyAddress = (entity: string): string => `/companies/${encodeURIComponent(entity)}`;

export const connectionAddress = (name: string): string => `/connections/${encodeURIComponent(name)}`;

export const monitorAddress = (id: string): string => `/monitors/${encodeURIComponent(id)}`;

export const CONFIGURATION = '/installation/configuration';

export const SETTINGS = '/settings';

/** The page of changes that are not saved. */
export const SETTINGS_CHANGES = '/settings/changes';

export const RUNS = '/runs';

export const runAddress = (id: number | string): string => `${RUNS}/${id}`;
