/** The options of an emulated HubSpot account. */

import type { Window } from '../../../provider.ts';
import type { EmulatorOptions } from '../../emulator/emulator.ts';
import type { PropertyOptions } from './definitions.ts';
import type { RequiredRule } from './validate.ts';

/** The options of an emulated HubSpot. */
export interface HubspotEmulatorOptions extends EmulatorOptions {
  /** The burst limit; 190 calls in 10 s where absent. */
  readonly rate?: Window | 'none';
  /** Calls a day, until midnight of the account. No limit where absent. */
  readonly daily?: number;
  readonly token?: string;
  /** Scopes of the token; companies read and write where absent. */
  readonly scopes?: readonly string[];
  readonly portalId?: number;
  readonly timeZone?: string;
  /** The account's currency; DKK where absent. */
  readonly currency?: string;
  /** Other currencies that deals of the account may have. */
  readonly additionalCurrencies?: readonly string[];
  /** What HubSpot's enrichment knows of a domain, as texts by property: it fills blanks with it. Knows nothing where absent. */
  readonly enrichment?: (domain: string) => Readonly<Record<string, string>>;
  /** Extra property definitions, or others under the same name. */
  readonly properties?: readonly PropertyOptions[];
  /** Names of default definitions the account lacks. */
  readonly missingProperties?: readonly string[];
  readonly required?: readonly RequiredRule[];
  /** Status of a batch with partial errors: 207 is listed for v3, 200 for 2026-09. */
  readonly batchStatus?: 200 | 207;
  /** `whole` refuses a batch with one bad input as a whole, in spite of trace ids. */
  readonly batchRefusals?: 'each' | 'whole';
  /** What batches do with a merged-away id: not documented, so both must be survived. */
  readonly mergedInBatch?: 'miss' | 'survivor';
  /** Misses of a batch read: named in `errors`, or simply absent. */
  readonly readMisses?: 'named' | 'absent';
  /** How long search does not see a write. */
  readonly searchLagMs?: number;
  /** `shuffled`: the records of a page come in any order, though the pages follow the one asked for. */
  readonly searchPages?: 'shuffled';
  /** Lifts the limit of five searches a second. */
  readonly searchRate?: 'none';
  /** Properties a company must have by the schema, and validation rules by property; `hidden`: the token may not see them. */
  readonly requiredProperties?: readonly string[];
  readonly validations?: readonly ValidationRule[] | 'hidden';
  /** Names of deleted properties: not listed, and not free either. */
  readonly deletedProperties?: readonly string[];
  /** The account's own labels between companies, by their numbers. */
  readonly labels?: Readonly<Record<number, string>>;
  /** Where HubSpot posts what happens; `subscribe` starts it later. */
  readonly webhook?: EmulatedWebhookOptions;
}

/** Where it posts, and in which of HubSpot's two shapes. */
export interface EmulatedWebhookOptions {
  /** The public address; it is what is signed. */
  readonly url: string;
  readonly clientSecret: string;
  /** `company.*`, or `object.*` with a type id (where absent). */
  readonly shape?: 'company' | 'object';
  /** The properties whose changes the webhooks report; `cvr_number` where absent. */
  readonly properties?: readonly string[];
  /** Events gather for that long before they are posted; 5 where absent. */
  readonly delayMs?: number;
}

/** A validation rule as HubSpot shows it; the emulator does not enforce it. */
export interface ValidationRule {
  readonly property: string;
  readonly ruleType: string;
  readonly ruleArguments: readonly string[];
}
