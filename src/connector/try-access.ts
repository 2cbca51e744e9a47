/** Tries what credentials may do, one thing after the other: whoever looks on sees each answer as it comes. */
import type { Connection, Right } from '../../providers/provider.ts';
import type { Finding, Findings } from '../runtime/finding.ts';
import { accountFindings, failureOf, lackOf, rightsOf } from './check.ts';
import { type CrmDeps, type CrmSettings, openCrm } from './crm/crm.ts';

/** The state of one right; `lack` says what its absence stops, and where to grant it. */
export interface TriedRight {
  readonly right: Right;
  readonly state: 'waiting' | 'granted' | 'missing';
  readonly lack?: Finding;
}

/** What is known of a connection's access so far. */
export interface CrmAccess {
  /** Empty until the CRM accepted the credentials. */
  readonly account: Findings;
  /** The id of the account; undefined until then. */
  readonly accountId?: string;
  /** In the order in which they are asked for. Empty if the CRM tells of none. */
  readonly rights: readonly TriedRight[];
  readonly failure?: Finding;
  readonly isOver: boolean;
}

export const UNTRIED: CrmAccess = { account: [], rights: [], isOver: false };

/** Tries the account, then each right; says after each answer what is known. Writes nothing, and throws nothing. */
export async function* tryAccess(
  deps: CrmDeps,
  provider: CrmSettings,
  signal: AbortSignal,
): AsyncGenerator<CrmAccess, void> {
  let access: CrmAccess = UNTRIED;
  try {
    const { connection } = await openCrm({ ...deps, probes: true }, provider);
    const checked = await connection.check(signal);
    const account = accountFindings(provider.name, checked);
    const asked = connection.missingRights === undefined ? [] : rightsOf(provider, connection, true);
    const rights = asked.map((right) => ({ right, state: 'waiting' }) as const);
    access = { account, accountId: checked.id, rights, isOver: false };
    yield access;
    for (const right of asked) {
      const tried = await tryRight(connection, provider.name, right, signal);
      access = { ...access, rights: access.rights.map((each) => (each.right === right ? tried : each)) };
      yield access;
    }
    yield { ...access, isOver: true };
  } catch (error) {
    yield { ...access, failure: failureOf(error, provider.name, signal), isOver: true };
  }
}

async function tryRight(connection: Connection, name: string, right: Right, signal: AbortSignal): Promise<TriedRight> {
  const [missing] = (await connection.missingRights?.([right], signal)) ?? [];
  return missing === undefined ? { right, state: 'granted' } : { right, state: 'missing', lack: lackOf(name, missing) };
}
