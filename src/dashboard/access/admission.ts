/** Who asks for a page: an operator with a session, somebody on this machine while there are no operators, or nobody. */
import type { FastifyRequest } from 'fastify';
import type { AuditActor } from '../../runtime/operators/audit.ts';
import { hasOperators, type Role } from '../../runtime/operators/operators.ts';
import { findSession, isNoteDue, type OpenSession, touchSession } from '../../runtime/operators/sessions.ts';
import type { Store } from '../../store/store.ts';
import { isFromThisMachine } from './same-origin.ts';
import { sessionIdOf } from './session-cookie.ts';

/** Somebody who was let in. */
export interface Visitor {
  readonly actor: AuditActor;
  readonly role: Role;
  /** Whether names of persons, and what may name them, are shown as they are. */
  readonly seesPersons: boolean;
  /** Undefined on this machine while there are no operators. */
  readonly session: OpenSession | undefined;
}

/** Let in; asked to sign in; or turned away, because there are no operators and the request is not of this machine. */
export type Admission =
  | { readonly kind: 'in'; readonly visitor: Visitor }
  | { readonly kind: 'sign-in' }
  | { readonly kind: 'elsewhere' };

/** What deciding on a visitor needs. */
export interface AdmissionDeps {
  readonly store: Store;
  readonly now: () => number;
  /** Whether people sign in through an issuer: there is no page without signing in then. */
  readonly hasSignOn?: boolean | undefined;
  /** Whether viewers see the names of persons; not where absent. */
  readonly viewersSeePersons?: boolean | undefined;
}

const ON_THIS_MACHINE: Visitor = {
  actor: { kind: 'user', name: 'this machine' },
  role: 'admin',
  seesPersons: true,
  session: undefined,
};

/** Whether a page brings itself up to date: an open window that nobody looks at must not keep a session alive. */
const isRefresh = ({ headers }: FastifyRequest): boolean => headers['x-cvrsync-refresh'] !== undefined;

/** Finds out who asks. One or two reads by key; a write where the session was last noted a minute ago. */
export async function admit(
  { store, now, hasSignOn = false, viewersSeePersons = false }: AdmissionDeps,
  request: FastifyRequest,
): Promise<Admission> {
  const id = sessionIdOf(request);
  const session = id === undefined ? undefined : await findSession(store.db, id, now());
  if (session !== undefined) {
    if (isNoteDue(session, now()) && !isRefresh(request)) await store.write((tx) => touchSession(tx, session, now()));
    const { name, role } = session.operator;
    const seesPersons = role !== 'viewer' || viewersSeePersons;
    return { kind: 'in', visitor: { actor: { kind: 'operator', name }, role, seesPersons, session } };
  }
  if (hasSignOn || (await hasOperators(store.db))) return { kind: 'sign-in' };
  const isHere = isFromThisMachine(request.socket.remoteAddress, request.headers);
  return isHere ? { kind: 'in', visitor: ON_THIS_MACHINE } : { kind: 'elsewhere' };
}
