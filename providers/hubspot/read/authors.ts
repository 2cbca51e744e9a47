/** Names the author of a version in HubSpot's property history: this app, a user, or another source. */
import { ProviderError } from '../../provider.ts';
import type { Apis } from '../client/client.ts';
import { HubspotRefusal } from '../client/faults.ts';

/** One version of a property. https://developers.hubspot.com/docs/api-reference/crm-companies-v3/guide */
export interface HubspotVersion {
  readonly value: string;
  readonly timestamp: Date;
  readonly sourceType?: string;
  readonly sourceId?: string;
  readonly sourceLabel?: string;
  readonly updatedByUserId?: number;
}

export interface HubspotAuthor {
  readonly by: string;
  readonly own: boolean;
}

/** The authors that a connection knows. After an hour it asks again for those that HubSpot did not name. */
export interface HubspotAuthors {
  /** Reads the app of the token once, and the names of users that are not known yet. */
  read(apis: Apis, versions: readonly HubspotVersion[]): Promise<(version: HubspotVersion) => HubspotAuthor>;
}

const HOUR_MS = 3_600_000;
const OWNERS_PER_PAGE = 100;
const MOST_PAGES = 5;

export function openAuthors(accessToken: string, now: () => number): HubspotAuthors {
  let names: ReadonlyMap<string, string> = new Map();
  let appId: string | undefined;
  let appAskedAt = Number.NEGATIVE_INFINITY;
  let namesAskedAt = Number.NEGATIVE_INFINITY;
  const isDue = (askedAt: number) => now() - askedAt >= HOUR_MS;

  return {
    async read(apis, versions) {
      if (appId === undefined && isDue(appAskedAt)) {
        appId = await tolerantly(() => readAppId(apis, accessToken));
        appAskedAt = now();
      }
      const unnamed = versions.map(userOf).some((user) => user !== undefined && !names.has(user));
      if (unnamed && isDue(namesAskedAt)) {
        names = (await tolerantly(() => readNames(apis))) ?? names;
        namesAskedAt = now();
      }
      return (version) => ({
        by: nameOf(version, names),
        own: version.sourceType === 'INTEGRATION' && version.sourceId !== undefined && version.sourceId === appId,
      });
    },
  };
}

/** Not every kind of token may ask, and nothing depends on the answer: only a fault that says to wait ends the verb. */
async function tolerantly<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const isAboutRights = error instanceof ProviderError && (error.fault === 'auth' || error.fault === 'refused');
    if (isAboutRights || error instanceof HubspotRefusal) return undefined;
    throw error;
  }
}

/** HubSpot notes the app's id in the history of what its token wrote. Tokens of the EU need the header too. */
async function readAppId(apis: Apis, accessToken: string): Promise<string | undefined> {
  const { appId } = await apis.post('/oauth/v2/private-apps/get/access-token-info', { tokenKey: accessToken });
  return typeof appId === 'number' || typeof appId === 'string' ? String(appId) : undefined;
}

/** Names by user id. Needs the scope `crm.objects.owners.read`. */
async function readNames(apis: Apis): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  let after: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = `limit=${OWNERS_PER_PAGE}${after === undefined ? '' : `&after=${encodeURIComponent(after)}`}`;
    const { body } = await apis.get(`/crm/v3/owners?${query}`);
    for (const owner of Array.isArray(body.results) ? body.results : []) addName(names, owner);
    after = cursorIn(body.paging);
    if (after === undefined) break;
  }
  return names;
}

function addName(names: Map<string, string>, owner: unknown): void {
  if (!isMember(owner)) return;
  const { userId, userIdIncludingInactive, firstName, lastName, email } = owner;
  const name = [firstName, lastName].filter(isText).join(' ');
  const id = userId ?? userIdIncludingInactive;
  const shown = name === '' ? email : name;
  if ((typeof id === 'number' || isText(id)) && isText(shown)) names.set(String(id), shown);
}

function cursorIn(paging: unknown): string | undefined {
  const next = isMember(paging) ? paging.next : undefined;
  const after = isMember(next) ? next.after : undefined;
  return isText(after) ? after : undefined;
}

/** The user's id; older versions have it only as `userId:123`. */
function userOf({ updatedByUserId, sourceId }: HubspotVersion): string | undefined {
  if (updatedByUserId !== undefined) return String(updatedByUserId);
  return /^userId:(\d+)$/.exec(sourceId ?? '')?.[1];
}

function nameOf(version: HubspotVersion, names: ReadonlyMap<string, string>): string {
  const user = userOf(version);
  if (user !== undefined) return names.get(user) ?? `HubSpot user ${user}`;
  const { sourceLabel, sourceType = '', sourceId } = version;
  if (isText(sourceLabel)) return sourceLabel;
  const source = SOURCES[sourceType] ?? `HubSpot source ${sourceType === '' ? 'unknown' : sourceType}`;
  return isText(sourceId) ? `${source} ${sourceId}` : source;
}

const SOURCES: Readonly<Record<string, string>> = {
  INTEGRATION: 'app',
  API: 'app',
  AUTOMATION_PLATFORM: 'workflow',
  WORKFLOWS: 'workflow',
  IMPORT: 'import',
  FORM: 'form',
  MERGE_COMPANIES: 'merge',
  COMPANY_INSIGHTS: 'HubSpot Insights',
  DATA_ENRICHMENT: 'HubSpot data enrichment',
};

type Member = Readonly<Record<string, unknown>>;
const isMember = (value: unknown): value is Member => typeof value === 'object' && value !== null;
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
