/** The settings of a connection; their descriptions are the documentation. */
import Type, { type Static } from 'typebox';

export const Settings = Type.Object(
  {
    baseUrl: Type.String({ pattern: '^https?://', description: 'Address of the API, without a slash at the end.' }),
    // What is secret is never shown: not in logs, not in errors, not in any output.
    token: Type.String({ minLength: 1, secret: true, description: 'API token.' }),
    callsPerSecond: Type.Integer({ minimum: 1, default: 10, description: 'Calls the account may make in a second.' }),
  },
  { additionalProperties: false },
);

/** Settings with every default filled in. */
export type Settings = Static<typeof Settings>;
