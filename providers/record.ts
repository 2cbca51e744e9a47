/**
 * A record of a CRM: its properties, what they hold, and what became of reading and writing them.
 *
 * Part of the provider contract; import it from provider.ts.
 */

/** A value of one CRM property as both sides of the contract spell it; `null` is blank. */
export type PropertyValue = string | number | boolean | null;

/** What a property may hold. */
export const PROPERTY_TYPES = [
  'string',
  'multiline',
  'phone',
  'email',
  'url',
  'number',
  'boolean',
  'date',
  'datetime',
  'enumeration',
  'other',
] as const;

/** A property of the CRM's company, as its schema describes it. */
export interface Property {
  readonly name: string;
  readonly label: string;
  readonly type: (typeof PROPERTY_TYPES)[number];
  readonly writable: boolean;
  /** The reason why nobody can write it, if no right is missing: `the CRM calculates it`. */
  readonly readOnly?: string;
  /** Characters a text may have, from 1; absent where the CRM has no limit, as `scale` is. */
  readonly maxLength?: number;
  /** For an enumeration: what it takes. `open` ones take other values too. */
  readonly options?: readonly { readonly value: string; readonly label: string }[];
  readonly open?: true;
  /** Digits after the point a number may have, from 0 to 100. */
  readonly scale?: number;
  readonly unique?: true;
  /** A number that the CRM shows as an amount in a currency of its own. */
  readonly money?: true;
  /** ISO 4217: the currency that a `money` number is shown in, if all records share one. */
  readonly currency?: string;
  /** The property of the record that holds that currency, if records differ in it. */
  readonly currencyIn?: string;
  /** The CRM takes what it holds for the company's own domain, and finds other values by it. */
  readonly ownSite?: true;
  /** A number that the CRM shows a hundredfold, with a per cent sign: it holds 0.333 for 33.3 %. */
  readonly fraction?: true;
  /** Its values cannot be read back, so that nothing may depend on them. */
  readonly unreadable?: true;
}

/**
 * What became of one record that was asked for. `moved` is a merge: `to` is the survivor. A found record has each property
 * that was asked for, blank ones as null. Only what cannot be read is absent: by the schema (`unreadable` of
 * {@link Property}), or by the answer, which names it in `unreadable`. The runtime then takes it to hold what
 * it wrote last; a record that lacks any other property is read again later.
 */
export type Read =
  | {
      readonly kind: 'found';
      readonly id: string;
      readonly properties: Readonly<Record<string, PropertyValue>>;
      readonly unreadable?: readonly string[];
    }
  | { readonly kind: 'moved'; readonly id: string; readonly to: string }
  | { readonly kind: 'gone'; readonly id: string }
  | { readonly kind: 'retry'; readonly id: string; readonly reason: string };

/** The properties to write to one record; `null` clears, an absent property is left alone. */
export interface Patch {
  readonly id: string;
  readonly properties: Readonly<Record<string, PropertyValue>>;
}

/**
 * What became of one patch.
 * `written` the CRM took the values; `retry` this record only, later;
 * `moved` and `gone` as in {@link Read}, nothing was written;
 * `rejected` nothing of this record was written: `properties` names the bad ones with the CRM's reason
 * (the runtime sets them aside and writes the rest), and is empty where the record as a whole was refused.
 * `call-refused` the CRM refused the call, and this record need not be the reason: the runtime divides the call, down to
 * a call of one record. Nothing of this record was written.
 */
export type Outcome =
  | WrittenOutcome
  | { readonly kind: 'call-refused'; readonly id: string; readonly reason: string }
  | { readonly kind: 'retry'; readonly id: string; readonly reason: string; readonly retryAfterMs?: number }
  | { readonly kind: 'moved'; readonly id: string; readonly to: string }
  | { readonly kind: 'gone'; readonly id: string }
  | {
      readonly kind: 'rejected';
      readonly id: string;
      readonly reason: string;
      readonly properties: Readonly<Record<string, string>>;
    };

/**
 * A patch that the CRM took. CRMs change what they are sent: they trim, shorten, escape, and run workflows. A provider
 * that learns at no extra call what the record held right before this write, or holds after it, says so. Each names only
 * properties of the patch, in the spelling of `read`.
 */
export interface WrittenOutcome {
  readonly kind: 'written';
  readonly id: string;
  /** The values after the write. */
  readonly stored?: Readonly<Record<string, PropertyValue>>;
  /** The values right before the write, read in the same call. */
  readonly replaced?: Readonly<Record<string, PropertyValue>>;
}

/** A record's id in the one form that is stored and compared, or why a text can be no record's id, for people. */
export type RecordId =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'none'; readonly reason: string };
