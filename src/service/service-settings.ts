import type { PressSettings } from './feeds/press.ts';
import type { NewsSettings } from './news/wording/make.ts';
import type { DafCredentials } from './register/source/datafordeler/feed/access.ts';
import type { ReportsSettings } from './reports/poll.ts';

export type RegisterSettings =
  | { readonly source: 'file'; readonly path: string; readonly pollSeconds: number }
  | {
      readonly source: 'cvr';
      readonly baseUrl: string;
      readonly username: string;
      readonly password: string;
      readonly pollSeconds: number;
      readonly pageSize: number;
      readonly requestsPerSecond: number;
      readonly since?: string;
    }
  | DatafordelerSettings;

export interface DatafordelerSettings extends DafCredentials {
  readonly source: 'datafordeler';
  /** The last day of the credentials, YYYY-MM-DD. */
  readonly apiKeyEnds?: string;
  readonly graphqlUrl: string;
  readonly filesUrl: string;
  /** The folder for the weekly files; without it the service loads only listed companies. */
  readonly files?: string;
  readonly pollSeconds: number;
  readonly requestsPerSecond: number;
}

export interface ServiceSettings {
  /** One source, or several with the leading one first. */
  readonly register: RegisterSettings | readonly RegisterSettings[];
  readonly webhooks: {
    readonly allowPrivateAddresses: boolean;
    readonly allow: readonly string[];
    readonly retrySeconds?: readonly number[];
    readonly concurrency: number;
  };
  readonly smtp?: {
    readonly url: string;
    readonly from: string;
    readonly admin?: string;
    readonly digestHour: number;
  };
  /** Of mails; Danish time if absent. */
  readonly timeZone?: string;
  readonly news: NewsSettings;
  readonly reports: ReportsSettings & { readonly enabled: boolean };
  readonly gazette: { readonly enabled: boolean; readonly baseUrl: string; readonly pollSeconds: number };
  readonly press: Pick<PressSettings, 'feeds' | 'pollSeconds'>;
  readonly requestsPerMinute: number;
  readonly emailEvent: string;
  /** Whether to read and send beneficial owners; false by default. */
  readonly beneficialOwners?: boolean;
  readonly placeType: string;
  readonly recodingGuard: boolean;
  /** Whether a connector in this daemon does the periodic tasks of the store; false by default. */
  readonly besideConnector?: boolean;
  /** The longest wait of work after a crash. */
  readonly leaseSeconds: number;
}
