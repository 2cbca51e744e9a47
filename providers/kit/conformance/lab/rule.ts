/** A rule of the contract, as the suite tries it. */
import type { Lab } from './lab.ts';
import type { Lack, Subject } from './subject.ts';

interface Named {
  /** Short and stable: reports name it. */
  readonly name: string;
  /** What a provider must do. */
  readonly about: string;
  /** What happens to a customer's data otherwise. */
  readonly why: string;
}

/** A rule about a connection, tried on its own CRM. */
export interface ConformanceRule extends Named {
  /** The suite skips the rule on a CRM that lacks one of these. */
  readonly needs?: readonly Lack[];
  /** False if the connection lacks the ability that the rule is about. */
  readonly has?: (lab: Lab) => boolean;
  /** Throws if the rule is broken. */
  run(lab: Lab): Promise<void>;
}

export interface BareRule extends Named {
  readonly has?: (subject: Subject) => boolean;
  run(subject: Subject): Promise<void>;
}
