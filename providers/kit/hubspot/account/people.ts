/** Who writes in an emulated account: the app of its token, and people by name. */
import type { EmulatorAnswer } from '../../emulator/emulator.ts';

/** The source of a version, as HubSpot's property history shows it. */
export interface VersionSource {
  readonly sourceType: string;
  readonly sourceId?: string;
  readonly updatedByUserId?: number;
}

/** The id of the app whose token the emulator takes. */
const APP_ID = 8_111_832;

/** The source of what came through the API. */
export const APP: VersionSource = { sourceType: 'INTEGRATION', sourceId: String(APP_ID) };

/** Whom a person's edit is by where the test names nobody. */
export const SOMEBODY = 'Anna Holm';

export interface People {
  /** The source of an edit in HubSpot's own pages. */
  sourceOf(name: string): VersionSource;
  /** Answers `GET /crm/owners`. */
  list(): EmulatorAnswer;
}

const FIRST_USER = 51_446_676;

/** Nobody yet: each name becomes a user once it is used. */
export function openPeople(): People {
  const sources = new Map<string, VersionSource>();
  return {
    sourceOf(name) {
      const updatedByUserId = FIRST_USER + sources.size;
      const known = sources.get(name);
      if (known !== undefined) return known;
      const source = { sourceType: 'CRM_UI', sourceId: `userId:${updatedByUserId}`, updatedByUserId };
      sources.set(name, source);
      return source;
    },
    list() {
      const results = [...sources].map(([name, { updatedByUserId: userId }], at) => {
        const [firstName = '', ...rest] = name.split(' ');
        return { id: String(41_629_779 + at), email: '', type: 'PERSON', firstName, lastName: rest.join(' '), userId };
      });
      return { status: 200, body: { results } };
    },
  };
}

/** Answers `POST /oauth/v2/private-apps/get/access-token-info`. */
export const tokenInfo = (portalId: number, scopes: ReadonlySet<string>): EmulatorAnswer => ({
  status: 200,
  body: { userId: FIRST_USER - 1, hubId: portalId, appId: APP_ID, scopes: [...scopes] },
});
