import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { main } from '../../src/main.ts';
import { runCli } from '../support/cli.ts';
import { newFolder } from '../support/stores.ts';

interface Shown {
  readonly url: string;
  readonly configuration: {
    readonly connector: { readonly providers: Readonly<Record<string, { accessToken?: string }>> };
  };
  readonly records: readonly { readonly id: string; readonly entityId: string }[];
}

/** Runs `emulate` until the test ends or `stop` is called. */
async function emulate(...argv: readonly string[]) {
  const stopping = new AbortController();
  const shown = Promise.withResolvers<Shown>();
  const stdout = { write: (text: string) => shown.resolve(JSON.parse(text)) };
  const stderr = { write: (text: string) => shown.reject(new Error(text)) };
  const code = main(['--json', 'emulate', ...argv], { stdout, stderr, env: {}, signal: stopping.signal });
  const stop = () => {
    stopping.abort();
    return code;
  };
  onTestFinished(async () => {
    await stop();
  });
  return { ...(await shown.promise), stop };
}

const companies = ({ url, configuration }: Shown) =>
  fetch(`${url}/crm/objects/2026-09/companies?limit=5`, {
    headers: { authorization: `Bearer ${configuration.connector.providers['hubspot']?.accessToken}` },
  });

describe('emulate', () => {
  it.each(['hubspot', 'salesforce', 'http'])('runs %s until it is stopped, and says how to reach it', async (name) => {
    const running = await emulate(name, '--companies', '3');
    expect(running.configuration.connector.providers).toEqual({ [name]: expect.objectContaining({ use: name }) });
    expect(running.records.map(({ entityId }) => entityId)).toEqual(
      Array(3).fill(expect.stringMatching(/^CVR-1-\d{8}$/)),
    );
    expect((await fetch(running.url)).status).toBeGreaterThanOrEqual(400);
    expect(await running.stop()).toBe(0);
    await expect(fetch(running.url)).rejects.toThrow();
  });

  it('names the option if its port is taken', async () => {
    const { url } = await emulate('hubspot');
    const { port } = new URL(url);
    for (const name of ['http', 'register', 'datafordeler', 'service']) {
      const { code, stderr } = await runCli(['emulate', name, '--port', port]);
      expect(code).toBe(1);
      expect(stderr).toContain(`cvrsync: port ${port} of 127.0.0.1 is taken: another program listens there`);
      expect(stderr).toContain('set another --port');
    }
  });

  it('makes scripted faults happen', async () => {
    const file = join(newFolder(), 'faults.yaml');
    await writeFile(
      file,
      [
        '- { match: "^GET /crm", times: 1, action: { kind: status, status: 503, body: { message: out } } }',
        '- { match: "^POST", body: "<script", times: always, action: { kind: status, status: 403, body: <html> } }',
        '- { match: "^GET", action: { kind: slow, ms: 1, at: start } }',
      ].join('\n'),
    );
    const running = await emulate('hubspot', '--faults', file);
    const statuses = [(await companies(running)).status, (await companies(running)).status];
    expect(statuses).toEqual([503, 200]);
    const post = async (body: string) => (await fetch(running.url, { method: 'POST', body })).status;
    expect([await post('<script>'), await post('<script>'), await post('x')]).toEqual([403, 403, 401]);
  });

  it.each([
    ['- { match: "x", action: { kind: explode } }'],
    ['- { match: "(", action: { kind: hang } }'],
    ['- { match: "x", body: "(", action: { kind: hang } }'],
    ['- { match: "x", action: { kind: slow, ms: 1, at: middle } }'],
    ['match: x'],
    ['- ['],
  ])('refuses %j as a list of faults', async (content) => {
    const file = join(newFolder(), 'faults.yaml');
    await writeFile(file, content);
    expect(await runCli(['emulate', 'hubspot', '--faults', file])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(file),
    });
  });

  it('lists the CRMs that it can emulate', async () => {
    expect(await runCli(['emulate', 'hubspt'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean hubspot?'),
    });
    expect((await runCli(['emulate', 'hubspot', '--port', '70000'])).code).toBe(2);
  });
});
