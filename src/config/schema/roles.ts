/** The roles of a daemon: the work it does if several daemons share a store. */
import type { ConfigProblem } from './fill.ts';

/** `ingest` receives webhooks, `sync` is the rest of the connector, `service` is the monitoring service. */
export const ROLES = ['ingest', 'sync', 'service'] as const;
export type DaemonRole = (typeof ROLES)[number];

interface Divided {
  readonly roles: readonly DaemonRole[];
  readonly store: string;
  readonly server: { readonly publicUrl?: string };
  readonly connector?: { readonly upstream?: object };
  readonly service?: object;
}

/** The roles that the daemons of a configuration need together. */
export const neededRoles = ({ connector, service }: Pick<Divided, 'connector' | 'service'>): readonly DaemonRole[] =>
  ROLES.filter((role) => (role === 'service' ? service : connector) !== undefined);

/** Reports roles that leave work undone, or a half that cannot reach the other. */
export function reportRoles(config: Divided, errors: ConfigProblem[]): void {
  const { roles, store, server, connector, service } = config;
  const needed = neededRoles(config);
  const absent = needed.filter((role) => !roles.includes(role));
  if (absent.length === 0) return;
  if (!/^postgres(?:ql)?:/u.test(store))
    errors.push({ path: 'roles', message: `must have ${absent.join(' and ')} too: one daemon does all on SQLite` });
  if (absent.length === needed.length)
    errors.push({ path: 'roles', message: `leave nothing to do: this configuration needs ${needed.join(', ')}` });
  const callEachOther = connector !== undefined && service !== undefined && connector.upstream === undefined;
  const does = (role: DaemonRole): boolean => roles.includes(role);
  const callsOthers = (does('sync') && !does('service')) || (does('service') && !does('ingest'));
  if (callEachOther && callsOthers && server.publicUrl === undefined)
    errors.push({ path: 'server.publicUrl', message: 'is missing: this daemon reaches those with other roles there' });
}
