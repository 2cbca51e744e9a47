/** The subject of the conformance suite: a provider, and the CRM behind it. */

import type { PropertyValue, Provider, Right } from '../../../provider.ts';
import type { FaultAction, ScriptedFault } from '../../emulator/emulator.ts';

/**
 * A scripted CRM on this machine, which the author writes on `serveEmulator`; a `CrmEmulator` is one. The suite calls
 * an optional member only if the provider has the matching ability.
 */
export interface FakeCrm {
  /** Provider settings that reach it. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Adds a company without the API, and returns its id. */
  add(properties: Readonly<Record<string, PropertyValue>>): string;
  /** The record's values, in the contract's spelling; undefined if no live record has the id. */
  get(id: string): Readonly<Record<string, PropertyValue>> | undefined;
  /** Deletes a record as a person would. */
  remove(id: string): void;
  /** A person's edit, without the API; if the CRM records the editor, `by` is the person's name. */
  edit(id: string, properties: Readonly<Record<string, PropertyValue>>, by?: string): void;
  /** Merges `other` into `primary` and returns the survivor's id. */
  merge?(primary: string, other: string): string;
  notes?(id: string): readonly string[];
  parent?(id: string): string | null;
  /** Removes a right from the credentials. Without it, the suite tries only existing rights. */
  withhold?(right: Right): void;
  fault(fault: ScriptedFault): void;
  close(): Promise<void>;
}

/** What a CRM may lack, so that a rule does not apply to it. */
export type Lack =
  | 'check' // no call tells whether the credentials are good
  | 'read' // a record's properties cannot be read
  | 'scan' // records cannot be listed
  | 'merge' // records are never merged
  | 'readOnly' // every property can be written
  | 'reasons' // a refusal does not name the property
  | 'answers'; // a successful answer has no body, or an arbitrary one

export interface Subject {
  readonly provider: Provider;
  /** Opens a fresh, empty CRM; every rule gets its own. */
  start(): Promise<FakeCrm>;
  /** The provider's module, as a `file:` URL, which the suite imports in a separate process; optional. */
  readonly module?: string;
  /** Texts that no error and no log may show: tokens and passwords in the settings of the fake. */
  readonly secrets: readonly string[];
  /**
   * Writable properties by kind; `text` takes at least 60 characters, `long` 2,000. The suite tries each named property
   * after `number`. A `choice` has at least two options, `amount` is a number that the CRM shows in a currency,
   * `fraction` one that it shows as a percentage, and `site` is the property that it treats as the company's own domain.
   */
  readonly properties: {
    readonly text: string;
    readonly long: string;
    readonly number: string;
    readonly choice?: string;
    readonly date?: string;
    readonly datetime?: string;
    readonly boolean?: string;
    readonly amount?: string;
    readonly fraction?: string;
    readonly site?: string;
  };
  /** The values that a company must have in addition to `text`. */
  readonly company?: Readonly<Record<string, PropertyValue>>;
  /** A value that the CRM refuses, in a separate property; required unless the CRM lacks `reasons`. */
  readonly refused?: { readonly property: string; readonly value: PropertyValue };
  /** A property that the CRM sets; required unless the CRM lacks `readOnly`. */
  readonly readOnly?: string;
  /** An id that no record has, in the CRM's form. */
  readonly absentId: string;
  /**
   * Patterns on `METHOD /path` for the calls that read and write records, create a company, and use a search whose
   * index lags or whose pages end.
   */
  readonly calls: {
    readonly read: string;
    readonly update: string;
    readonly create?: string;
    readonly search?: string;
  };
  /** The CRM's own answers to a bad token (401), missing rights (403) and too many calls (`Retry-After: 7`). */
  readonly answers?: {
    readonly unauthorized?: FaultAction;
    readonly forbidden?: FaultAction;
    readonly rate?: FaultAction;
    readonly rateWithRetryAfter?: FaultAction;
  };
  /** How long to wait for an answer that never comes, in ms; default 400. */
  readonly hangMs?: number;
  /** What the CRM lacks, each with a sentence; the suite skips the rules that need it. */
  readonly lacks?: Readonly<Partial<Record<Lack, string>>>;
}

/** Keeps a subject's type through inference, and marks the subject among the exports of a module. */
export const defineSubject = (subject: Subject): Subject => subject;
