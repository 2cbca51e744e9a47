/** A visit of a page: who requests what, in which language. */
import type { AuditActor } from '../../runtime/operators/audit.ts';
import type { Role } from '../../runtime/operators/operators.ts';
import type { OpenSession } from '../../runtime/operators/sessions.ts';
import type { Reader } from './reader.ts';

export interface Visitor {
  readonly actor: AuditActor;
  readonly role: Role;
  /** Whether names of persons, and values that may hold them, are shown unmasked. */
  readonly seesPersons: boolean;
  readonly session: OpenSession;
}

/** A permitted request. */
export interface Visit {
  readonly reader: Reader;
  readonly visitor: Visitor;
  readonly now: number;
  /** Each form carries it, as `FORM_TOKEN`. */
  readonly formToken: string;
  /** Empty if missing. */
  query(name: string): string;
  /** A part of the path, such as `id` of `/companies/:id`. */
  param(name: string): string;
}
