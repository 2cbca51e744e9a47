/** The writers of an emulated account: the app of its token, and people by name. */
import type { EmulatorAnswer } from '../../emulator/emulator.ts';

/** The source of a version, as in HubSpot's property history. */
export interface VersionSource {
  readonly sourceType: string;
  readonly sourceId?: string;
  readonly updatedByUserId?: number;
}

/** The id of the app whose token the emulator accepts. */
const APP_ID = 8_111_832;

/** The source of a write through the API. */
export const APP: VersionSource = { sourceType: 'INTEGRATION', sourceId: String(APP_ID) };

/** The author of a person's edit if the test names nobody. */
export const SOMEBODY = 'Anna Holm';

export interface People {
  /** The source of an edit on HubSpot's own pages. */
  sourceOf(name: string): VersionSource;
  list(): EmulatorAnswer;
}

const FIRST_USER = 51_446_676;

/** Begins without users: each name becomes one on its first use. */
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
