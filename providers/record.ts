/**
 * A record of a CRM: its properties, their values, and the results of reading and writing them. Part of the provider
 * contract; import it from provider.ts.
 */

/** A value of one CRM property; `null` is blank. */
export type PropertyValue = string | number | boolean | null;

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

/** A property of the CRM's company. */
export interface Property {
  readonly name: string;
  readonly label: string;
  readonly type: (typeof PROPERTY_TYPES)[number];
  readonly writable: boolean;
  /** Why it cannot be written, unless a right is missing: `the CRM calculates it`. */
  readonly readOnly?: string | undefined;
  /** The most characters of a text, from 1; absent if the CRM has no limit. */
  readonly maxLength?: number | undefined;
  /** The values that an enumeration takes. An `open` one takes others too. */
  readonly options?: readonly { readonly value: string; readonly label: string }[] | undefined;
  readonly open?: true | undefined;
  /** The most digits after the point, from 0 to 100; absent if the CRM has no limit. */
  readonly scale?: number | undefined;
  readonly unique?: true | undefined;
  /** The CRM shows the number as an amount in a currency. */
  readonly money?: true | undefined;
  /** ISO 4217: the currency of a `money` number, if all records share one. */
  readonly currency?: string | undefined;
  /** The property of the record that holds that currency, if records differ. */
  readonly currencyIn?: string | undefined;
  /** The CRM takes the value for the company's own domain, and finds other values by it. */
  readonly ownSite?: true | undefined;
  /** The CRM shows the number a hundredfold with a per cent sign: 0.333 is 33.3 %. */
  readonly fraction?: true | undefined;
  /** Its values cannot be read back, so nothing may depend on them. */
  readonly unreadable?: true | undefined;
}

/**
 * The result of reading one record. `moved` is a merge: `to` is the survivor. A found record has each property asked
 * for, blank ones as null. Only unreadable ones are absent: those that the schema marks `unreadable` (see {@link
 * Property}), and those that the answer names in `unreadable`. The runtime takes these to hold what it wrote last; if
 * any other property is absent, it reads the record again later.
 */
export type Read =
  | {
      readonly kind: 'found';
      readonly id: string;
      readonly properties: Readonly<Record<string, PropertyValue>>;
      readonly unreadable?: readonly string[] | undefined;
    }
  | { readonly kind: 'moved'; readonly id: string; readonly to: string }
  | { readonly kind: 'gone'; readonly id: string }
  | { readonly kind: 'retry'; readonly id: string; readonly reason: string };

/** The properties to write to one record; `null` clears, an absent property stays unchanged. */
export interface Patch {
  readonly id: string;
  readonly properties: Readonly<Record<string, PropertyValue>>;
}

/**
 * The result of one patch. Only `written` wrote anything.
 * `written`: the CRM took the values;
 * `retry`: this record only, later;
 * `moved` and `gone`: as in {@link Read};
 * `rejected`: `properties` names the bad ones with the CRM's reason, and the runtime sets them aside and writes the
 * rest; it is empty if the CRM refused the whole record;
 * `call-refused`: the CRM refused the call, and this record need not be the reason: the runtime divides the call, down
 * to a call of one record.
 */
export type Outcome =
  | WrittenOutcome
  | { readonly kind: 'call-refused'; readonly id: string; readonly reason: string }
  | { readonly kind: 'retry'; readonly id: string; readonly reason: string; readonly retryAfterMs?: number | undefined }
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
 * that learns the values right before or after this write without another call returns them here. Each names only
 * properties of the patch, in the spelling of `read`.
 */
export interface WrittenOutcome {
  readonly kind: 'written';
  readonly id: string;
  /** The values after the write. */
  readonly stored?: Readonly<Record<string, PropertyValue>> | undefined;
  /** The values right before the write, read in the same call. */
  readonly replaced?: Readonly<Record<string, PropertyValue>> | undefined;
}

/** The canonical id of a record, or the reason, for people, why a text cannot be an id. */
export type RecordId =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'none'; readonly reason: string };
