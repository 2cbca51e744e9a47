/** The message about a text that does not match its pattern: an example, never the pattern. */
import type { TSchema } from 'typebox';
import { expect, it } from 'vitest';
import { fill } from '../../../src/config/schema/fill.ts';
import { configSchema } from '../../../src/config/schema/schema.ts';
import { builtInEntries } from '../../../src/config/schema-document.ts';
import { endHolds } from '../../../src/operations/connector/holds.ts';
import { perform } from '../../../src/operations/definition/operation.ts';
import type { Issue } from '../../../src/protocol/shape.ts';
import { newStore } from '../../support/stores.ts';

/** Every text of a schema with a pattern, by its path. */
function patterned(schema: object, path = ''): readonly (readonly [string, TSchema])[] {
  if (Object.hasOwn(schema, 'pattern')) return [[path, schema as TSchema]];
  return Object.entries(schema).flatMap(([name, part]: [string, unknown]) =>
    typeof part === 'object' && part !== null ? patterned(part, `${path}/${name}`) : [],
  );
}

const messageFor = (schema: TSchema): string | undefined => {
  const problems: Issue[] = [];
  fill(schema, '\u0001:', '', problems);
  return problems[0]?.message;
};

it('every text of the configuration with a pattern shows an example, and a secret one its form in words', async () => {
  const texts = [configSchema, ...(await builtInEntries()).values()].flatMap((schema) => patterned(schema));
  expect(texts.length).toBeGreaterThan(20);
  const bare = texts.filter(([path, schema]) => {
    const message = messageFor(schema) ?? '';
    const isSecret = Object.hasOwn(schema, 'secret');
    // Names of connections are explained by the section.
    const isKey = path.includes('/patternProperties');
    return !isKey && !/^should look like \S+: \S/u.test(message) && !(isSecret && message.includes(': '));
  });
  expect(bare.map(([path]) => path)).toEqual([]);
});

it('a misspelt text in a configuration is reported with an example', () => {
  const problems: Issue[] = [];
  fill(configSchema, { connector: { webhook: { path: 'webhook', auth: { method: 'None' } } } }, '', problems);
  expect(problems).toContainEqual({
    path: 'connector.webhook.path',
    message: 'should look like /webhook: Path of the webhook.',
  });
});

it('a misspelt text in a request is reported with an example, too', async () => {
  const ground = { store: await newStore('sqlite'), now: () => 1 };
  const caller = { actor: { kind: 'operator', name: 'ida' }, via: 'page' } as const;
  await expect(perform(endHolds, { provider: 'a\u0001b' }, ground, caller)).rejects.toMatchObject({
    issues: [{ path: '/provider', message: 'should look like hubspot: A connection, as the configuration names it' }],
  });
});
