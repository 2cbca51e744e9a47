/**
 * What a connection may do beside its five verbs: abilities a CRM may lack.
 *
 * Part of the provider contract; import it from provider.ts.
 */
import type { Outcome, PropertyValue } from './record.ts';

/** A property to be made in the account, as a preset needs it. */
export interface PropertyDefinition {
  readonly name: string;
  readonly label: string;
  readonly type: 'string' | 'multiline' | 'number' | 'boolean' | 'date' | 'datetime' | 'url';
  /** No two records may hold the same value: the CVR number. */
  readonly unique?: true;
  /** A number that is a year. The CRM shows it without a thousands separator, if it can. */
  readonly year?: true;
}

/** What became of one definition. `exists`: it was there, whatever its type. */
export interface Defined {
  readonly name: string;
  readonly kind: 'created' | 'exists' | 'refused';
  /** Where refused: why, and which permission is missing. */
  readonly reason?: string;
}

/** What credentials must be allowed to do: `define` is to make properties, the others are the verbs of their names. */
export type Right = 'read' | 'update' | 'create' | 'notes' | 'parents' | 'define';

/** A right that the credentials lack; `reason` says what the CRM asks for, and where it is granted. */
export interface MissingRight {
  readonly right: Right;
  readonly reason: string;
}

/** A rule of the account that may block a write, for a person to read before the first one. */
export interface AccountRule {
  readonly kind: 'required' | 'validation' | 'duplicate';
  readonly name: string;
  /** What it says, or which property it is about. */
  readonly about: string;
}

/**
 * A sign that a record may not be what it was: only a hint, the runtime reads the record before it acts. Repeated,
 * reordered and late ones do no harm. `seen` is a record that is new, restored or edited.
 */
export type ChangeHint =
  | { readonly kind: 'gone'; readonly id: string }
  | { readonly kind: 'moved'; readonly id: string; readonly to: string }
  | { readonly kind: 'seen'; readonly id: string; readonly properties: Readonly<Record<string, PropertyValue>> };

/** What happened in the CRM since a cursor; the next call begins at `cursor`, at once where `more`. */
export interface Changes {
  readonly changeHints: readonly ChangeHint[];
  readonly cursor: string;
  readonly more: boolean;
}

/** What became of a record to be made. `duplicate`: the CRM says that it has it already, as `id` where it tells. */
export type Created =
  | { readonly kind: 'created'; readonly id: string }
  | { readonly kind: 'duplicate'; readonly id?: string; readonly reason: string }
  | { readonly kind: 'rejected'; readonly reason: string; readonly properties: Readonly<Record<string, string>> };

/** The records that hold a value in a property. `sure` is false where the CRM's index may lag behind its writes. */
export interface Search {
  readonly records: readonly { readonly id: string; readonly properties: Readonly<Record<string, PropertyValue>> }[];
  readonly sure: boolean;
}

/** One change of one property, as the CRM's own history of the record shows it. */
export interface PropertyEdit {
  readonly id: string;
  readonly property: string;
  /** The value from then on; undefined where the CRM says only who changed the record, and when. */
  readonly value?: PropertyValue;
  /** Ms since 1970, by the CRM's clock. */
  readonly at: number;
  /** Who made it, for people: a name, an e-mail address, a workflow. */
  readonly by: string;
  /** True where it came by the credentials of this connection. */
  readonly own: boolean;
}

/** A note on a record. Plain text, lines parted by `\n`; the provider escapes. */
export interface Note {
  readonly recordId: string;
  /** Ms since 1970. */
  readonly at: number;
  readonly subject: string;
  readonly text: string;
  /** A short text that is unique to this note: the provider puts it where `find` finds it again. */
  readonly marker: string;
}

/** What became of a note; `id` is the note's. */
export type NoteOutcome =
  | { readonly kind: 'written'; readonly id: string }
  | { readonly kind: 'retry'; readonly reason: string }
  | { readonly kind: 'gone' }
  | { readonly kind: 'rejected'; readonly reason: string };

/**
 * Notes on records. Where the answer to `add` was lost, the runtime asks `find` before it adds again. Where the right to
 * notes is missing at all they throw `refused`: it stops the notes, and nothing else of the connection.
 */
export interface Notes {
  /** The id of the note with this marker on the record, made at `since` (ms) or later; not by an index that lags. */
  find(recordId: string, marker: string, since: number, signal: AbortSignal): Promise<string | undefined>;
  add(note: Note, signal: AbortSignal): Promise<NoteOutcome>;
}

/** The record above one: its parent's id, null where it has none. */
export type ParentRead =
  | { readonly kind: 'found'; readonly id: string; readonly parent: string | null }
  | { readonly kind: 'moved'; readonly id: string; readonly to: string }
  | { readonly kind: 'gone'; readonly id: string };

/** Parents of companies. Where the right to them is missing at all they throw `refused`, as notes do. */
export interface Parents {
  /** In the order asked; at most `limits.batch.read` ids. */
  read(ids: readonly string[], signal: AbortSignal): Promise<readonly ParentRead[]>;
  /** Sets one record's parent, or ends it (`null`); `was` is the parent that was read before. */
  write(
    change: { readonly id: string; readonly parent: string | null; readonly was: string | null },
    signal: AbortSignal,
  ): Promise<Outcome>;
}

/** A request as the CRM sent it to us. */
export interface CrmRequest {
  readonly method: string;
  /** The whole address as the CRM called it. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
}

/** What a CRM's webhook said: which records to look at. `refused` is answered 401, `unreadable` 400. */
export type WebhookRead =
  | { readonly kind: 'records'; readonly ids: readonly string[] }
  | { readonly kind: 'refused' | 'unreadable'; readonly reason: string };
