/** The name of the company e-mail event: an error where an event would be lost by it. */
import { eventNamed } from '../protocol/payload.ts';
import type { ConfigProblem } from './schema/fill.ts';

/** The halves, as far as they name the e-mail event. */
interface Naming {
  readonly connector?: { readonly emailEvent: string; readonly upstream?: object };
  readonly service?: { readonly emailEvent: string };
}

/** Reports the name of another event, and a name that the other half does not read. */
export function reportEmailEvent({ connector, service }: Naming, errors: ConfigProblem[]): void {
  for (const [half, named] of Object.entries({ connector, service })) {
    const event = named && eventNamed(named.emailEvent);
    if (event !== undefined && event !== 'email')
      errors.push({
        path: `${half}.emailEvent`,
        message: `is the name of the event ${event}: give the e-mail event another name, or leave this out for email`,
      });
  }
  if (connector === undefined || service === undefined || connector.upstream !== undefined) return;
  if (eventNamed(service.emailEvent, connector) === undefined)
    errors.push({
      path: 'connector.emailEvent',
      message: 'is another name than service.emailEvent, by which this connector is sent the event: write the same',
    });
}
