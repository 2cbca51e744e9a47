/** Answers of an unexpected shape are not misread. */
import { Value } from 'typebox/value';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connectHttp } from '../../../providers/http/connection.ts';
import { HttpSettings } from '../../../providers/http/http-settings.ts';
import { openTestHttp } from '../../../providers/kit/conformance/lab/http.ts';
import { type EmulatorRequest, serveEmulator } from '../../../providers/kit/emulator/emulator.ts';

const live = () => new AbortController().signal;

/** An API that gives every call the same answer; what it was sent. */
async function api(body: unknown, settings: Record<string, unknown> = {}) {
  const asked: EmulatorRequest[] = [];
  const { url, close } = await serveEmulator((request) => {
    asked.push(request);
    return { status: 200, body };
  });
  onTestFinished(close);
  const urls = { updateUrl: `${url}/{id}`, readUrl: `${url}/{id}`, listUrl: `${url}/list` };
  const whole = Value.Parse(HttpSettings, Value.Default(HttpSettings, { ...urls, ...settings }));
  const keep = { get: async () => undefined, set: async () => {} };
  return { asked, connection: await connectHttp(whole, { http: openTestHttp().http, keep, now: Date.now }) };
}

describe('an answer in another shape', () => {
  it.each([[{ data: { id: 7, name: 'A name that a person wrote' } }], [{ company: {} }]])(
    'of readUrl is not treated as a company with unreadable properties: %j',
    async (body) => {
      const { connection } = await api(body);
      const read = connection.read(['7'], ['name'], live());
      await expect(read).rejects.toMatchObject({ fault: 'refused', message: expect.stringMatching(/flat JSON/) });
    },
  );

  it('of readUrl about another company says nothing about the requested one', async () => {
    const { connection } = await api({ id: 8, name: 'Birk' });
    expect(await connection.read(['7'], ['name'], live())).toMatchObject([
      { kind: 'retry', id: '7', reason: 'readUrl was answered with another company, whose id is 8' },
    ]);
  });

  it('of readUrl that lost the zeros of a number is the requested company', async () => {
    const { connection } = await api({ cvr: 1234567, name: 'Birk' }, { idKey: 'cvr' });
    expect(await connection.read(['01234567'], ['name'], live())).toMatchObject([{ kind: 'found', id: '01234567' }]);
  });

  it('of listUrl is refused if a company has no id, instead of omitting the company', async () => {
    const { connection } = await api([{ Id: 7, name: 'Birk' }]);
    await expect(connection.scan(['name'], undefined, live())).rejects.toMatchObject({
      fault: 'refused',
      message: expect.stringMatching(/put the name of its id in idKey/),
    });
  });
});

describe('an id that the settings say is a number', () => {
  it('is sent as one', async () => {
    const { asked, connection } = await api({}, { properties: [{ name: 'id', type: 'number' }] });
    await connection.update([{ id: '7', properties: { name: 'Ny' } }], live());
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({ id: 7, name: 'Ny' });
  });
});
