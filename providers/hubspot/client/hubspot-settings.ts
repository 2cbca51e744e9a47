/** The settings of a HubSpot connection; their descriptions are the documentation. */
import Type, { type Static } from 'typebox';

export const HubspotSettings = Type.Object(
  {
    accessToken: Type.String({
      minLength: 1,
      secret: true,
      description:
        'A service key, or the access token of a private app. Create a key in HubSpot under Settings, Integrations, Service Keys (<https://app.hubspot.com/service-keys>) with the scopes crm.objects.companies.read and crm.objects.companies.write; to create properties also crm.schemas.companies.write, for notes crm.objects.contacts.read and crm.objects.contacts.write.',
    }),
    clientSecret: Type.Optional(
      Type.String({
        minLength: 1,
        secret: true,
        description:
          'Client secret of the app whose webhooks HubSpot sends to cvrsync; cvrsync checks their signature with it. Only webhooks need it; service keys have none.',
      }),
    ),
    baseUrl: Type.String({
      pattern: '^https?://[^/]+(/.*[^/])?$',
      default: 'https://api.hubapi.com',
      description: 'Address of the API, without a slash at the end. One host serves all regions.',
    }),
    apiVersion: Type.String({
      pattern: '^(v3|\\d{4}-\\d{2})$',
      default: '2026-09',
      description:
        'API version in the paths: a dated one, or v3. From 2026-09 on, HubSpot applies the required properties of the account to API writes too.',
    }),
    rate: Type.Object(
      {
        calls: Type.Integer({ minimum: 1, default: 190, description: 'Calls in one window.' }),
        perSeconds: Type.Number({ exclusiveMinimum: 0, default: 10, description: 'Length of the window in seconds.' }),
      },
      {
        additionalProperties: false,
        default: { calls: 190, perSeconds: 10 },
        description:
          'The burst limit of the app: 100 calls per 10 s on Free and Starter, 190 on Professional and Enterprise, 250 with the API limit increase. Set it lower if other software shares the app.',
      },
    ),
    concurrency: Type.Integer({ minimum: 1, maximum: 50, default: 8, description: 'Most calls at the same time.' }),
  },
  { additionalProperties: false },
);

export type HubspotSettings = Static<typeof HubspotSettings>;
