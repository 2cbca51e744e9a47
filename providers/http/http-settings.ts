/** The settings of a connection to an API of your own; their descriptions are the documentation. */
import Type, { type Static } from 'typebox';

const address = '^https?://[^/]+(/.*)?$';

export const HttpSettings = Type.Object(
  {
    updateUrl: Type.String({
      pattern: address,
      description:
        "Where changes are sent, one company a call; {id} in it stands for the record's id. Any 2xx is success, 404 a company that is gone.",
    }),
    exportUrl: Type.Optional(
      Type.String({
        pattern: address,
        description:
          'Where new companies are sent (transfer); 409 is a duplicate. The id of the record is read from the answer, else from the message itself. Companies are not made where absent.',
      }),
    ),
    readUrl: Type.Optional(
      Type.String({
        pattern: '^https?://[^/]+/.*\\{id\\}',
        description:
          'Where one company can be read as flat JSON, with {id} in it. A property that it shows of no company, and all where absent, is taken to hold what was written last.',
      }),
    ),
    listUrl: Type.Optional(
      Type.String({
        pattern: address,
        description:
          'Where all companies can be listed: a list of flat JSON, or { results, cursor } with a cursor for the next page. Backfill and reconcile need it.',
      }),
    ),
    method: Type.Union([Type.Literal('POST'), Type.Literal('PUT')], {
      default: 'POST',
      description: 'How companies and changes are sent: POST or PUT.',
    }),
    authHeader: Type.String({
      pattern: '^[A-Za-z0-9-]+$',
      default: 'Authorization',
      description: 'Name of the header that proves who we are.',
    }),
    authValue: Type.Optional(
      Type.String({ minLength: 1, secret: true, description: 'Value of that header, whole: "Bearer ...".' }),
    ),
    idKey: Type.String({
      minLength: 1,
      default: 'id',
      description:
        "Name of the record's id in messages and answers; cvr where the API knows companies by their number.",
    }),
    cursorParameter: Type.String({
      pattern: '^[A-Za-z0-9_-]+$',
      default: 'cursor',
      description: 'Query parameter of listUrl that takes the cursor of the page before.',
    }),
    properties: Type.Array(
      Type.Object(
        {
          name: Type.String({ minLength: 1, description: 'Name in the JSON.' }),
          type: Type.Union(
            [
              Type.Literal('string'),
              Type.Literal('multiline'),
              Type.Literal('number'),
              Type.Literal('boolean'),
              Type.Literal('date'),
              Type.Literal('datetime'),
            ],
            { default: 'string', description: 'string, multiline, number, boolean, date or datetime.' },
          ),
          maxLength: Type.Optional(Type.Integer({ minimum: 1, description: 'Longest text, in characters.' })),
          readOnly: Type.Boolean({ default: false, description: 'Read, never written.' }),
        },
        { additionalProperties: false },
      ),
      {
        default: [],
        description: 'Names in the JSON that are not those of the company fields, or that have another type.',
      },
    ),
    rate: Type.Object(
      {
        calls: Type.Integer({ minimum: 1, default: 10, description: 'Calls in one window.' }),
        perSeconds: Type.Number({ exclusiveMinimum: 0, default: 1, description: 'Length of the window in seconds.' }),
      },
      { additionalProperties: false, default: { calls: 10, perSeconds: 1 }, description: 'What the API can bear.' },
    ),
    concurrency: Type.Integer({ minimum: 1, maximum: 50, default: 4, description: 'Calls in flight at once.' }),
  },
  { additionalProperties: false },
);

export type HttpSettings = Static<typeof HttpSettings>;
