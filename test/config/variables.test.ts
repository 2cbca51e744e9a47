import { describe, expect, it } from 'vitest';
import type { ConfigProblem } from '../../src/config/schema/fill.ts';
import { didYouMean } from '../../src/config/schema/nearest.ts';
import { substitute } from '../../src/config/variables.ts';
import { check, connectorWith } from '../support/config.ts';

const FILES: Readonly<Record<string, string>> = {
  '/run/secrets/key': 'from file\n',
  '/run/secrets/pem': '\n-----BEGIN\nx\n',
};
const fill = (value: unknown, env: Readonly<Record<string, string>> = {}) => {
  const problems: ConfigProblem[] = [];
  const read = (path: string): string => {
    const text = FILES[path];
    if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    return text;
  };
  return { value: substitute(value, '', { env, read }, { errors: problems, missing: problems }), problems };
};

describe('a reference', () => {
  it.each([
    [`\${A}`, 'one'],
    [`x-\${A}-\${B}`, 'x-one-two'],
    [`\${C:-three}`, 'three'],
    [`\${C:-}`, ''],
    [`\${EMPTY:-four}`, 'four'],
    [`\${EMPTY}`, ''],
    [`$\${A}`, `\${A}`],
    ['$A $ {A}', '$A $ {A}'],
    [`\${NESTED}`, `\${A}`],
    [`\${KEY}`, 'from file'],
    [`\${KEY:-default}`, 'from file'],
  ])('%s becomes %j', (text, result) => {
    const env = { A: 'one', B: 'two', EMPTY: '', NESTED: `\${A}`, KEY_FILE: '/run/secrets/key' };
    expect(fill({ a: [text] }, env)).toEqual({ value: { a: [result] }, problems: [] });
  });

  it('cannot change the structure of the file, whatever the value holds', () => {
    const secret = `a"b'c: #d\n- e: {f`;
    expect(fill({ a: `\${S}`, b: 1 }, { S: secret }).value).toEqual({ a: secret, b: 1 });
  });

  it('to an unset variable is a problem, at its path and with its name', () => {
    const { problems } = fill({ a: { b: [`\${NONE}`, `\${ALSO_NONE}`] } });
    expect(problems.map(({ path, message }) => [path, /variable (\w+)/.exec(message)?.[1]])).toEqual([
      ['a.b.0', 'NONE'],
      ['a.b.1', 'ALSO_NONE'],
    ]);
  });

  it('that is not closed or has no name is a problem', () => {
    expect(fill({ a: `\${A`, b: `\${}`, c: `\${A-B}` }, { A: '1' }).problems.map(({ path }) => path)).toEqual([
      'a',
      'b',
      'c',
    ]);
  });
});

describe('a reference without braces', () => {
  it.each([
    ['$HUBSPOT_TOKEN', 'HUBSPOT_TOKEN'],
    ['Bearer $OWN_TOKEN', 'OWN_TOKEN'],
    ['$own_token', 'own_token'],
  ])('%s is a problem that states the right spelling', (text, name) => {
    const { problems } = fill({ accessToken: text }, { own_token: 'x' });
    expect(problems).toEqual([
      {
        path: 'accessToken',
        message: `holds $${name} without braces: write $\{${name}} for the environment variable, or put the text itself into one`,
      },
    ]);
  });

  it.each(['$ecretOfBirk', 'US$', 'a$PATH', '$1', 'costs $FIVE each'])('%s is a text like any other', (text) => {
    expect(fill({ a: text })).toEqual({ value: { a: text }, problems: [] });
  });

  it('is not searched in the value of a variable', () => {
    expect(fill({ a: `\${PASSWORD}` }, { PASSWORD: '$SECRET' })).toEqual({ value: { a: '$SECRET' }, problems: [] });
  });
});

describe('a key that ends in _FILE', () => {
  it('gives the content of the file, trimmed, under the name before it', () => {
    const given = { accessToken_FILE: `\${DIR}/key`, nested: { privateKey_FILE: '/run/secrets/pem' } };
    expect(fill(given, { DIR: '/run/secrets' })).toEqual({
      value: { accessToken: 'from file', nested: { privateKey: '-----BEGIN\nx' } },
      problems: [],
    });
  });

  it('is a problem if the file cannot be read, or the key itself is given too', () => {
    const { problems } = fill({ a_FILE: '/none', b_FILE: '/run/secrets/key', b: 'own', c_FILE: 3 });
    expect(problems).toEqual([
      { path: 'a_FILE', message: 'cannot read the file /none (ENOENT)' },
      { path: 'b_FILE', message: 'is given in addition to b: use one of them' },
      { path: 'c_FILE', message: 'should be the path of a file' },
    ]);
  });
});

describe('did you mean', () => {
  it.each([
    ['phnoe', 'phone'],
    ['access_key', 'accessKey'],
    ['base-url', 'baseUrl'],
    ['PORT', 'port'],
    ['xyz', undefined],
    ['', undefined],
  ])('%j: %s', (typed, name) => {
    const ending = name === undefined ? '' : `; did you mean ${name}?`;
    expect(didYouMean(typed, ['phone', 'accessKey', 'baseUrl', 'port'])).toBe(ending);
  });

  it.each([
    [{}, '0.0.0.0'],
    [{ host: '127.0.0.1' }, '127.0.0.1'],
  ])('with %o as server listens at %s if the environment says 0.0.0.0, as in the image', async (server, host) => {
    const load = await check({ ...connectorWith(), server }, { CVRSYNC_SERVER_HOST: '0.0.0.0' });
    expect(load.ok && load.config.server.host).toBe(host);
  });
});
