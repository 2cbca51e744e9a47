/**
 * The optional abilities of a connection, in addition to its five verbs. Part of the provider contract; import
 * it from provider.ts.
 */
import type { Outcome, PropertyValue } from './record.ts';

/** A property to create in the account. */
export interface PropertyDefinition {
  readonly name: string;
  readonly label: string;
  readonly type: 'string' | 'multiline' | 'number' | 'boolean' | 'date' | 'datetime' | 'url';
  /** Two records never hold the same value, as with the CVR number. */
  readonly unique?: true | undefined;
  /** The number is a year: the CRM shows it without a thousands separator, if it can. */
  readonly year?: true | undefined;
}

/** The result of one definition. `exists`: the property existed before, of any type. */
export interface Defined {
  readonly name: string;
  readonly kind: 'created' | 'exists' | 'refused';
  /** `created` only: the property was there before, hidden from these credentials, which see it now. */
  readonly hidden?: true | undefined;
  /** Why the CRM refused, and which permission is missing. */
  readonly reason?: string | undefined;
}

/** The result of one removal. `absent`: the account has no such property. */
export interface PropertyRemoval {
  readonly name: string;
  readonly kind: 'removed' | 'absent' | 'refused';
  /** Why the CRM refused, and how a person removes it there. */
  readonly reason?: string | undefined;
}

/** A permission of the credentials: `define` creates properties, the others are the verbs of their names. */
export type Right = 'read' | 'update' | 'create' | 'notes' | 'parents' | 'define';

/** A right that the credentials lack; `reason` names it as the CRM does, and says where to grant it. */
export interface MissingRight {
  readonly right: Right;
  readonly reason: string;
}

/** A rule of the account that may block a write. `check` shows it before the first one. */
export interface AccountRule {
  readonly kind: 'required' | 'validation' | 'duplicate';
  readonly name: string;
  /** The text of the rule, or the property that it concerns. */
  readonly about: string;
}

/**
 * A hint that a record may have changed. The runtime reads the record before it acts, so hints may repeat, come late or
 * in any order. `seen` is a new, restored or edited record.
 */
export type ChangeHint =
  | { readonly kind: 'gone'; readonly id: string }
  | { readonly kind: 'moved'; readonly id: string; readonly to: string }
  | { readonly kind: 'seen'; readonly id: string; readonly properties: Readonly<Record<string, PropertyValue>> };

/** The changes since a cursor. The next call begins at `cursor`; `more` asks for it at once. */
export interface Changes {
  readonly changeHints: readonly ChangeHint[];
  readonly cursor: string;
  readonly more: boolean;
}

/** The result of a creation. `duplicate`: the CRM has the company already, as `id` if it says so. */
export type Created =
  | { readonly kind: 'created'; readonly id: string }
  | { readonly kind: 'duplicate'; readonly id?: string | undefined; readonly reason: string }
  | { readonly kind: 'rejected'; readonly reason: string; readonly properties: Readonly<Record<string, string>> };

/** The records that hold a value in a property. `sure` is false if the CRM's index may lag behind its writes. */
export interface Search {
  readonly records: readonly { readonly id: string; readonly properties: Readonly<Record<string, PropertyValue>> }[];
  readonly sure: boolean;
}

/** One change of one property, from the CRM's own history of the record. */
export interface PropertyEdit {
  readonly id: string;
  readonly property: string;
  /** The value after the change; absent if the CRM says only who changed the record, and when. */
  readonly value?: PropertyValue | undefined;
  /** Ms since 1970, by the CRM's clock. */
  readonly at: number;
  /** The author, for people: a name, an e-mail address, a workflow. */
  readonly by: string;
  /** The credentials of this connection made the change. */
  readonly own: boolean;
}

/** A note on a record: plain text with `\n` between lines; the provider escapes it. */
export interface Note {
  readonly recordId: string;
  readonly at: number;
  readonly subject: string;
  readonly text: string;
  /** A short text that only this note has: `find` searches for it. */
  readonly marker: string;
}

/** The result of adding a note; `id` is the note's. */
export type NoteOutcome =
  | { readonly kind: 'written'; readonly id: string }
  | { readonly kind: 'retry'; readonly reason: string }
  | { readonly kind: 'gone' }
  | { readonly kind: 'rejected'; readonly reason: string };

/**
 * Notes on records. After a lost answer to `add`, the runtime calls `find` before it adds again. Without the right to
 * notes both throw `refused`, which stops the notes and nothing else.
 */
export interface Notes {
  /** The id of the record's note with this marker, made at `since` (ms) or later. An index that lags must not answer. */
  find(recordId: string, marker: string, since: number, signal: AbortSignal): Promise<string | undefined>;
  add(note: Note, signal: AbortSignal): Promise<NoteOutcome>;
}

/** A record's parent; null if it has none. */
export type ParentRead =
  | { readonly kind: 'found'; readonly id: string; readonly parent: string | null }
  | { readonly kind: 'moved'; readonly id: string; readonly to: string }
  | { readonly kind: 'gone'; readonly id: string };

/** Parents of companies. Without the right to them both throw `refused`, as notes do. */
export interface Parents {
  /** Answers in the order asked; takes at most `limits.batch.read` ids. */
  read(ids: readonly string[], signal: AbortSignal): Promise<readonly ParentRead[]>;
  /** Sets or ends (`null`) one record's parent; `was` is the parent that the runtime read before. */
  write(
    change: { readonly id: string; readonly parent: string | null; readonly was: string | null },
    signal: AbortSignal,
  ): Promise<Outcome>;
}

export interface CrmRequest {
  readonly method: string;
  /** The whole address, as the CRM called it. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
}

/** The records that a webhook of the CRM names. cvrsync answers `refused` with 401, `unreadable` with 400. */
export type WebhookRead =
  | { readonly kind: 'records'; readonly ids: readonly string[] }
  | { readonly kind: 'refused' | 'unreadable'; readonly reason: string };
