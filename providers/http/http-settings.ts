/** The settings of a connection to an API of your own; their descriptions are the documentation. */
import Type, { type Static } from 'typebox';

const address = '^https?://[^/]+(/.*)?$';

export const HttpSettings = Type.Object(
  {
    updateUrl: Type.String({
      pattern: address,
      description:
        "Address that receives changes, one company per call; {id} in it stands for the record's id. Any 2xx is success, 404 means that the company is gone.",
      examples: ['https://api.example.com/companies/{id}'],
    }),
    exportUrl: Type.Optional(
      Type.String({
        pattern: address,
        description:
          'Address that receives new companies (transfer); 409 means a duplicate. cvrsync reads the id of the record from the answer, else from the message. Without it, cvrsync creates no companies.',
        examples: ['https://api.example.com/companies'],
      }),
    ),
    readUrl: Type.Optional(
      Type.String({
        pattern: '^https?://[^/]+/.*\\{id\\}',
        description:
          'Address that returns one company as flat JSON, with {id} in it. cvrsync assumes its last value for a property that no answer shows; without this address, for every property.',
        examples: ['https://api.example.com/companies/{id}'],
      }),
    ),
    listUrl: Type.Optional(
      Type.String({
        pattern: address,
        description:
          'Address that lists all companies: a list of flat JSON, or { results, cursor } with a cursor for the next page. Backfill and reconcile need it.',
        examples: ['https://api.example.com/companies'],
      }),
    ),
    method: Type.Union([Type.Literal('POST'), Type.Literal('PUT')], {
      default: 'POST',
      description: 'Method that sends companies and changes: POST or PUT.',
    }),
    authHeader: Type.String({
      pattern: '^[A-Za-z0-9-]+$',
      default: 'Authorization',
      description: 'Name of the header that authenticates cvrsync.',
    }),
    authValue: Type.Optional(
      Type.String({ minLength: 1, secret: true, description: 'Value of that header, whole: "Bearer ...".' }),
    ),
    idKey: Type.String({
      minLength: 1,
      default: 'id',
      description:
        "Name of the record's id in messages and answers; cvr if the API identifies companies by their number.",
    }),
    cursorParameter: Type.String({
      pattern: '^[A-Za-z0-9_-]+$',
      default: 'cursor',
      description: 'Query parameter of listUrl that takes the cursor from the previous page.',
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
          readOnly: Type.Boolean({ default: false, description: 'cvrsync reads the property and never writes it.' }),
        },
        { additionalProperties: false },
      ),
      {
        default: [],
        description: 'Properties in the JSON whose name is not a company field, or whose type differs.',
      },
    ),
    rate: Type.Object(
      {
        calls: Type.Integer({ minimum: 1, default: 10, description: 'Calls in one window.' }),
        perSeconds: Type.Number({ exclusiveMinimum: 0, default: 1, description: 'Length of the window in seconds.' }),
      },
      {
        additionalProperties: false,
        default: { calls: 10, perSeconds: 1 },
        description: 'The calls that the API can handle.',
      },
    ),
    concurrency: Type.Integer({ minimum: 1, maximum: 50, default: 4, description: 'Most calls at the same time.' }),
  },
  { additionalProperties: false },
);

export type HttpSettings = Static<typeof HttpSettings>;
