import type { Window } from '../../../provider.ts';
import type { EmulatorOptions } from '../../emulator/emulator.ts';
import type { PropertyOptions } from './definitions.ts';
import type { RequiredRule } from './validate.ts';

export interface HubspotEmulatorOptions extends EmulatorOptions {
  /** The burst limit; default: 190 calls in 10 s. */
  readonly rate?: Window | 'none';
  /** Calls a day, until midnight of the account; default: no limit. */
  readonly daily?: number;
  readonly token?: string;
  /** Scopes of the token; default: read and write companies. */
  readonly scopes?: readonly string[];
  readonly portalId?: number;
  readonly timeZone?: string;
  readonly currency?: string;
  /** Other currencies that deals of the account may have. */
  readonly additionalCurrencies?: readonly string[];
  /** The texts, by property, with which HubSpot's enrichment of a domain fills blanks. Default: none. */
  readonly enrichment?: (domain: string) => Readonly<Record<string, string>>;
  /** Extra property definitions, or others under the same name. */
  readonly properties?: readonly PropertyOptions[];
  /** Names of default definitions that the account lacks. */
  readonly missingProperties?: readonly string[];
  readonly required?: readonly RequiredRule[];
  /** Status of a batch with partial errors: HubSpot lists 207 for v3, 200 for 2026-09. */
  readonly batchStatus?: 200 | 207;
  /** `whole` refuses a batch with one bad input as a whole, in spite of trace ids. */
  readonly batchRefusals?: 'each' | 'whole';
  /** What batches do with an id that was merged away: not documented, so a provider must handle both. */
  readonly mergedInBatch?: 'miss' | 'survivor';
  /** Missing records of a batch read: in `errors`, or simply absent. */
  readonly readMisses?: 'named' | 'absent';
  /** How long search does not see a write. */
  readonly searchLagMs?: number;
  /** `shuffled`: the records of a page come in any order, though the pages follow the requested one. */
  readonly searchPages?: 'shuffled';
  /** Lifts the limit of five searches a second. */
  readonly searchRate?: 'none';
  /** Properties that a company must have, and validation rules by property; `hidden`: not shown to the token. */
  readonly requiredProperties?: readonly string[];
  readonly validations?: readonly ValidationRule[] | 'hidden';
  /** Names of deleted properties: not listed, and not free either. */
  readonly deletedProperties?: readonly string[];
  /** The account's own labels between companies, by their numbers. */
  readonly labels?: Readonly<Record<number, string>>;
  /** Where HubSpot posts events; `subscribe` starts it later. */
  readonly webhook?: EmulatedWebhookOptions;
}

/** The address and the shape of webhooks. */
export interface EmulatedWebhookOptions {
  /** The public address, which HubSpot signs. */
  readonly url: string;
  readonly clientSecret: string;
  /** `company.*`, or `object.*` with a type id (default). */
  readonly shape?: 'company' | 'object';
  /** The properties whose changes the webhooks report; default `cvr_number`. */
  readonly properties?: readonly string[];
  /** Events gather for this long before they are posted; default 5. */
  readonly delayMs?: number;
}

/** A validation rule as HubSpot shows it; the emulator does not enforce it. */
export interface ValidationRule {
  readonly property: string;
  readonly ruleType: string;
  readonly ruleArguments: readonly string[];
}
