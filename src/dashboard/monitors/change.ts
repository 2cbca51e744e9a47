/** Changes of a monitor by hand: done and recorded in one transaction. */
import { recordAudit } from '../../runtime/operators/audit.ts';
import type { Monitor } from '../../service/monitors/monitor.ts';
import { getMonitor } from '../../service/monitors/monitors.ts';
import type { Tx } from '../../store/store.ts';
import type { Visit } from '../page/visit.ts';
import type { ServicePageDeps } from '../routes/routes.ts';

/**
 * Does something to a monitor that exists, and records it, in one transaction. `work` says what came of it; undefined where
 * nothing changed, because it was done before.
 */
export async function changeMonitor(
  { store, management }: ServicePageDeps,
  { visitor, param, now }: Visit,
  action: string,
  work: (tx: Tx, monitor: Monitor) => Promise<string | undefined>,
): Promise<'done' | 'unchanged' | 'unknown'> {
  const subject = param('id');
  return await store.write(async (tx) => {
    const monitor = await getMonitor(tx, management.secrets, subject);
    if (monitor === undefined) return 'unknown';
    const result = await work(tx, monitor);
    if (result === undefined) return 'unchanged';
    const detail = { name: monitor.name };
    await recordAudit(tx, { actor: visitor.actor, via: 'page', action, subject, detail, result }, now);
    return 'done';
  });
}
