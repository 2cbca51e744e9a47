/** How events are read and written, as the configuration says. */
import type { WireOptions } from '../protocol/payload.ts';
import type { Config } from './load.ts';

/** Whether anything about beneficial owners is read, kept, told and written: only where the configuration names a legal basis. */
export const tellsBeneficialOwners = ({ beneficialOwners }: Pick<Config, 'beneficialOwners'>): boolean =>
  beneficialOwners !== undefined;

/** How the connector reads events. */
export const wireOf = (config: Pick<Config, 'connector' | 'beneficialOwners'>): Required<WireOptions> => ({
  emailEvent: config.connector?.emailEvent ?? 'email',
  beneficialOwners: tellsBeneficialOwners(config),
});
