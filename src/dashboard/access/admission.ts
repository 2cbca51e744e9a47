/** Finds out which operator a request comes from, by its session. The client's address decides nothing. */

import type { FastifyRequest } from 'fastify';
import { findSession, isNoteDue, isPastSession, touchSession } from '../../runtime/operators/sessions.ts';
import type { Store } from '../../store/store.ts';
import type { Visitor } from '../page/visit.ts';
import { sessionIdOf } from './session-cookie.ts';

export interface AdmissionDeps {
  readonly store: Store;
  readonly now: () => number;
  /** Whether viewers see the names of persons; false by default. */
  readonly viewersSeePersons?: boolean | undefined;
}

/** Whether a page refreshes itself: an open window that nobody uses must not keep a session alive. */
const isRefresh = ({ headers }: FastifyRequest): boolean => headers['x-cvrsync-refresh'] !== undefined;

/**
 * The visitor of a request; undefined if they must sign in. One read by key; a write if the session was last noted a
 * minute ago.
 */
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
 * Whether the request comes from somebody whose session ended recently: the form that they sent is then kept for them.
 * One read by key; none without a session cookie.
 */
export async function wasAdmitted({ store }: AdmissionDeps, request: FastifyRequest): Promise<boolean> {
  const id = sessionIdOf(request);
  return id !== undefined && (await isPastSession(store.db, id));
}
