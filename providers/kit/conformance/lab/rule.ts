/** A rule of the contract, as the suite tries it. */
import type { Lab } from './lab.ts';
import type { Lack, Subject } from './subject.ts';

interface Named {
  /** Short and stable: what a report names. */
  readonly name: string;
  /** What a provider must do. */
  readonly about: string;
  /** What happens to a customer's data where it does not. */
  readonly why: string;
}

/** A rule about a connection: tried on a CRM of its own. */
export interface ConformanceRule extends Named {
  /** Not tried on a CRM that lacks one of these. */
  readonly needs?: readonly Lack[];
  /** False where the connection does not have the ability the rule is about. */
  readonly has?: (lab: Lab) => boolean;
  /** Tries it; throws where it is broken. */
  run(lab: Lab): Promise<void>;
}

/** A rule about the provider itself: needs no connection. */
export interface BareRule extends Named {
  readonly has?: (subject: Subject) => boolean;
  run(subject: Subject): Promise<void>;
}
