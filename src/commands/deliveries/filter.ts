import { DELIVERY_STATES, type DeliveryFilter, type DeliveryState } from '../../service/delivery/deliveries.ts';
import { readEntity } from '../arguments/entity.ts';
import { time } from '../arguments/time.ts';
import { flag, oneOf, positive, text } from '../cli/command.ts';
import type { CommandContext } from '../cli/context.ts';

export const filterOptions = {
  monitor: text('only deliveries of this monitor', 'id'),
  state: oneOf(DELIVERY_STATES, 'only deliveries in this state'),
  entity: text('only deliveries of this company or person: CVR-1-12345678, or a CVR number', 'id'),
  since: time('only deliveries created at or after this time'),
  until: time('only deliveries created before this time'),
};

interface Given {
  readonly monitor: string | undefined;
  readonly state: DeliveryState | undefined;
  readonly entity: string | undefined;
  readonly since: number | undefined;
  readonly until: number | undefined;
}

export const readFilter = (
  { monitor, state, entity, since, until }: Given,
  log: CommandContext['log'],
): DeliveryFilter => ({
  ...(monitor !== undefined && { monitor }),
  ...(state !== undefined && { state }),
  ...(entity !== undefined && { entity: readEntity(entity, log) }),
  ...(since !== undefined && { since }),
  ...(until !== undefined && { until }),
});

export const confirmOptions = {
  limit: positive('take at most so many, oldest first'),
  yes: flag('do it; without this option only count, and end with exit code 3'),
};

export const PREVIEWED = 'shows how many, and needs --yes';

/** The filter as options of a command line and as input of an operation: ages become times. */
export const textsOf = ({ monitor, state, entity, since, until }: DeliveryFilter) => ({
  monitor,
  state,
  entity,
  since: since === undefined ? undefined : new Date(since).toISOString(),
  until: until === undefined ? undefined : new Date(until).toISOString(),
});
