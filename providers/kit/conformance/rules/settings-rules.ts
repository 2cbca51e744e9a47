/** Rules about settings: secrets are marked, and unknown settings refused. */
import { brief, insist } from '../lab/insist.ts';
import { settingsOf } from '../lab/lab.ts';
import type { BareRule } from '../lab/rule.ts';
import { startFake } from '../lab/whole-subject.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Names of the text settings that hold a secret, including those whose value is harmless in the fake. */
const SECRET_NAME = /(?:token|secret|password|passphrase|passwd|credentials?|api_?key|access_?key|private_?key)$/i;

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);

interface TextSetting {
  /** Its path: `auth.clientSecret`. */
  readonly path: string;
  readonly secrecy: unknown;
  readonly values: readonly unknown[];
}

/** Every text setting of a schema, with the fake's value. */
function textsIn(schema: Fields, values: readonly unknown[], path = ''): readonly TextSetting[] {
  const { type, properties, items, secret } = schema;
  const options = [...listOf(schema['anyOf']), ...listOf(schema['oneOf']), ...listOf(schema['allOf'])];
  const under = (key: string): string => (path === '' ? key : `${path}.${key}`);
  return [
    ...(type === 'string' && schema['const'] === undefined ? [{ path, secrecy: secret, values }] : []),
    ...options.flatMap((option) => textsIn(option, values, path)),
    ...(isFields(items) ? textsIn(items, values.flat(), path) : []),
    ...Object.entries(isFields(properties) ? properties : {}).flatMap(([key, property]) => {
      const inner = values.filter(isFields).map((value) => value[key]);
      return isFields(property) ? textsIn(property, inner, under(key)) : [];
    }),
  ];
}

/** The paths of objects in a schema that accept unknown members; '' is the schema itself. */
function openIn(schema: Fields, path = ''): readonly string[] {
  const { properties, items, additionalProperties } = schema;
  const options = [...listOf(schema['anyOf']), ...listOf(schema['oneOf']), ...listOf(schema['allOf'])];
  const under = (key: string): string => (path === '' ? key : `${path}.${key}`);
  return [
    ...(isFields(properties) && additionalProperties !== false ? [path] : []),
    ...options.flatMap((option) => openIn(option, path)),
    ...(isFields(items) ? openIn(items, path) : []),
    ...Object.entries(isFields(properties) ? properties : {}).flatMap(([key, property]) =>
      isFields(property) ? openIn(property, under(key)) : [],
    ),
  ];
}

const CLOSED: BareRule = {
  name: 'closed-settings',
  about: 'the schema of the settings refuses unknown settings: `additionalProperties: false` on each object',
  why: 'otherwise a misspelt setting is silently ignored, and a secret in it is never masked',
  run: async ({ provider: { settings } }) => {
    insist(isFields(settings), 'settings is not a schema: a Type.Object of typebox 1 is needed');
    const [open] = openIn(settings);
    const place = open === '' ? 'settings' : `the setting ${open}`;
    insist(
      open === undefined,
      `${place} accepts members that the schema does not name: add additionalProperties: false`,
    );
  },
};

const SECRET: BareRule = {
  name: 'marks-secrets',
  about: 'a setting that holds a token, a password or a key is marked `secret: true` in the schema',
  why: 'otherwise `config show`, logs and errors show it',
  run: async (subject) => {
    const fake = await startFake(subject);
    try {
      const { settings: schema } = subject.provider;
      insist(isFields(schema), 'settings is not a schema: a Type.Object of typebox 1 is needed');
      for (const { path, secrecy, values } of textsIn(schema, [settingsOf(subject.provider, fake.settings)])) {
        if (secrecy === true || secrecy === 'url') continue;
        const holds = values.some(
          (value) =>
            typeof value === 'string' && subject.secrets.some((secret) => secret !== '' && value.includes(secret)),
        );
        insist(
          !holds,
          `the setting ${path} holds a secret of the subject and is not marked: { secret: true } is missing`,
        );
        insist(!SECRET_NAME.test(path), `the setting ${brief(path)} is not marked: { secret: true } is missing`);
      }
    } finally {
      await fake.close();
    }
  },
};

export const SETTINGS_RULES: readonly BareRule[] = [SECRET, CLOSED];
