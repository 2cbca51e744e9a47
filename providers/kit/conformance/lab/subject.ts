/** What the conformance suite must know about a provider, and what it can do to the CRM behind it. */

import type { PropertyValue, Provider, Right } from '../../../provider.ts';
import type { FaultAction, ScriptedFault } from '../../emulator/emulator.ts';

/**
 * A CRM on this machine, scripted: what the author writes, on `serveEmulator`. A `CrmEmulator` is one.
 * What is optional is asked for only where the provider has the ability it stands for.
 */
export interface FakeCrm {
  /** Provider settings that reach it. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Adds a company past the API and returns its id. */
  add(properties: Readonly<Record<string, PropertyValue>>): string;
  /** What it holds, spelled as the contract spells values; undefined where no live record has the id. */
  get(id: string): Readonly<Record<string, PropertyValue>> | undefined;
  /** Deletes a record as a person would. */
  remove(id: string): void;
  /** A person's edit, past the API; where the CRM keeps who edited, `by` is the person's name. */
  edit(id: string, properties: Readonly<Record<string, PropertyValue>>, by?: string): void;
  /** Merges `other` into `primary` and returns the survivor's id. */
  merge?(primary: string, other: string): string;
  /** The texts of the notes on a record, oldest first. */
  notes?(id: string): readonly string[];
  /** The record's parent, null where it has none. */
  parent?(id: string): string | null;
  /** Takes a right from the credentials, as an administrator would. Where it is absent, only rights that are there are tried. */
  withhold?(right: Right): void;
  /** Adds a scripted fault. */
  fault(fault: ScriptedFault): void;
  close(): Promise<void>;
}

/** What a CRM may lack, so that a rule cannot be tried on it. */
export type Lack =
  | 'check' // no call tells whether the credentials are good
  | 'read' // a record's properties cannot be read
  | 'scan' // records cannot be listed
  | 'merge' // records are never merged
  | 'readOnly' // every property can be written
  | 'reasons' // what it refuses, it does not name by property
  | 'answers'; // its success has no body, or any

/** A provider to be tried, and how its CRM speaks. */
export interface Subject {
  readonly provider: Provider;
  /** Opens a fresh, empty CRM; every rule has one of its own. */
  start(): Promise<FakeCrm>;
  /** The module that exports the provider, as a `file:` URL: it is imported in a process of its own. Not tried where absent. */
  readonly module?: string;
  /** Texts that no error and no log may show: tokens, passwords, as the settings of the fake hold them. */
  readonly secrets: readonly string[];
  /**
   * Writable properties by kind; `text` takes 60 characters at least, `long` 2,000. All after `number` are tried where they
   * are named; a `choice` has two options at least, `amount` is a number that the CRM shows in a currency of its own, `fraction`
   * one that it shows as a percentage, and `site` is what it takes for the company's own domain.
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
  /** The least a company must have to exist, beside `text`. */
  readonly company?: Readonly<Record<string, PropertyValue>>;
  /** A value the CRM refuses, in a property of its own; needed unless it lacks `reasons`. */
  readonly refused?: { readonly property: string; readonly value: PropertyValue };
  /** A property that the CRM sets by itself; needed unless it lacks `readOnly`. */
  readonly readOnly?: string;
  /** An id no record has, shaped as the CRM shapes them. */
  readonly absentId: string;
  /**
   * Patterns on `METHOD /path` for the calls that read and write records, for the one that makes a company, and for those
   * of a search whose index lags, or whose pages end.
   */
  readonly calls: {
    readonly read: string;
    readonly update: string;
    readonly create?: string;
    readonly search?: string;
  };
  /** The CRM's own answers to a bad token (401), to a lack of rights (403) and to too many calls, the last with `Retry-After: 7`. */
  readonly answers?: {
    readonly unauthorized?: FaultAction;
    readonly forbidden?: FaultAction;
    readonly rate?: FaultAction;
    readonly rateWithRetryAfter?: FaultAction;
  };
  /** How long to wait for an answer that never comes, in ms; 400 where absent. */
  readonly hangMs?: number;
  /** What the CRM lacks, each with a sentence that says so: the rules that need it are not tried. */
  readonly lacks?: Readonly<Partial<Record<Lack, string>>>;
}

/** Keeps a subject's type through inference, and tells `cvrsync provider test` apart what a module exports. */
export const defineSubject = (subject: Subject): Subject => subject;
