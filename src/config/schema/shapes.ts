import Type, { type TSchemaOptions } from 'typebox';

export const CLOSED = { additionalProperties: false } as const;
const URL_PATTERN = '^https?://[^/\\s]+(/[^\\s]*[^/\\s])?$';

export const text = (description: string, options: TSchemaOptions = {}) =>
  Type.String({ minLength: 1, description, ...options });
export const secret = (description: string) => Type.String({ minLength: 1, secret: true, description });
export const baseUrl = (description: string, options: TSchemaOptions = {}) =>
  Type.String({
    pattern: URL_PATTERN,
    description: `${description}, http or https, without a slash at the end.`,
    examples: ['https://example.com'],
    ...options,
  });

export const seconds = (description: string, value: number) =>
  Type.Integer({ minimum: 1, maximum: 86_400, default: value, description });
