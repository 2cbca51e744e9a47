/** The settings of a connection; their descriptions are the documentation. */
import Type, { type Static } from 'typebox';

export const Settings = Type.Object(
  {
    baseUrl: Type.String({ pattern: '^https?://', description: 'Address of the API, without a slash at the end.' }),
    // cvrsync never shows a secret in logs, errors or other output.
    token: Type.String({ minLength: 1, secret: true, description: 'API token.' }),
    callsPerSecond: Type.Integer({ minimum: 1, default: 10, description: 'Calls the account may make in a second.' }),
  },
  { additionalProperties: false },
);

export type Settings = Static<typeof Settings>;
