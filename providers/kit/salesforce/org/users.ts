import { toLongId } from '../../../salesforce/client/ids.ts';

/** The author of a person's edit if the test names nobody. */
export const SOMEBODY = 'Anna Holm';
const CONNECTOR = 'Integration User';

/** The users of an org: the one of its tokens, and people by name. */
export interface Users {
  /** The id of the person with this name, who becomes a user on first use. */
  idOf(name: string): string;
  nameOf(userId: string): string;
}

/** Begins with the user of the tokens only. */
export function openUsers(connectorId: string): Users {
  const ids = new Map([[CONNECTOR, connectorId]]);
  return {
    idOf(name) {
      const id = ids.get(name) ?? toLongId(`005Qy00000${String(ids.size).padStart(2, '0')}Pe1`);
      ids.set(name, id);
      return id;
    },
    nameOf: (userId) => [...ids].find(([, id]) => id === userId)?.[0] ?? CONNECTOR,
  };
}
