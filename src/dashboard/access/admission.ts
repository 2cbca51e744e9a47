/** Who asks for a page: an operator with a session, or nobody. Where a request comes from decides nothing. */

import type { FastifyRequest } from 'fastify';
import { findSession, isNoteDue, isPastSession, touchSession } from '../../runtime/operators/sessions.ts';
import type { Store } from '../../store/store.ts';
import type { Visitor } from '../page/visit.ts';
import { sessionIdOf } from './session-cookie.ts';

/** What deciding on a visitor needs. */
export interface AdmissionDeps {
  readonly store: Store;
  readonly now: () => number;
  /** Whether viewers see the names of persons; not where absent. */
  readonly viewersSeePersons?: boolean | undefined;
}

/** Whether a page brings itself up to date: an open window that nobody looks at must not keep a session alive. */
const isRefresh = ({ headers }: FastifyRequest): boolean => headers['x-cvrsync-refresh'] !== undefined;

/** Finds out who asks; undefined for those who must sign in. One read by key; a write if the session was last noted a minute ago. */
export async function admit(
  { store, now, viewersSeePersons = false }: AdmissionDeps,
  request: FastifyRequest,
): Promise<Visitor | undefined> {
  const id = sessionIdOf(request);
  const session = id === undefined ? undefined : await findSession(store.db, id, now());
  if (session === undefined) return undefined;
  if (isNoteDue(session, now()) && !isRefresh(request)) await store.write((tx) => touchSession(tx, session, now()));
  const { name, role } = session.operator;
  const seesPersons = role !== 'viewer' || viewersSeePersons;
  return { actor: { kind: 'operator', name }, role, seesPersons, session };
}

/**
 * Whether somebody asks whose session ended a while ago: what they filled in meanwhile is kept for them. One read by key, and
 * none for those who never had a session.
 */
export async function wasAdmitted({ store }: AdmissionDeps, request: FastifyRequest): Promise<boolean> {
  const id = sessionIdOf(request);
  return id !== undefined && (await isPastSession(store.db, id));
}
