/** A visit of a page: who asks, for what, in which language. */
import type { AuditActor } from '../../runtime/operators/audit.ts';
import type { Role } from '../../runtime/operators/operators.ts';
import type { OpenSession } from '../../runtime/operators/sessions.ts';
import type { Reader } from './reader.ts';

/** Somebody who was let in. */
export interface Visitor {
  readonly actor: AuditActor;
  readonly role: Role;
  /** Whether names of persons, and what may name them, are shown as they are. */
  readonly seesPersons: boolean;
  readonly session: OpenSession;
}

/** One request of somebody who may make it. */
export interface Visit {
  readonly reader: Reader;
  readonly visitor: Visitor;
  readonly now: number;
  /** Each form carries it, as `FORM_TOKEN`. */
  readonly formToken: string;
  /** A value of the query; empty if it is not there. */
  query(name: string): string;
  /** A part of the path, such as `id` of `/companies/:id`. */
  param(name: string): string;
}
