import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { BUILT_IN } from '../../providers/index.ts';
import { EMULATORS } from '../../providers/kit/emulators.ts';
import { CONTRACT_VERSION } from '../../providers/provider.ts';

const providers = new URL('../../providers/', import.meta.url);

/** Runs in a process of its own: prints which client libraries were resolved and what is left open. */
const SCRIPT = `
  import { registerHooks } from 'node:module';
  const seen = [];
  registerHooks({ resolve(specifier, context, next) {
    if (/^(@hubspot|jsforce|undici|node:(net|http|https|tls))/.test(specifier)) seen.push(specifier);
    return next(specifier, context);
  } });
  const { BUILT_IN } = await import(process.argv[1] + 'index.ts');
  const provider = await BUILT_IN[process.argv[2]]();
  const open = process.getActiveResourcesInfo().filter((kind) => !/Pipe|TTY|FSReq|Immediate/.test(kind));
  console.log(JSON.stringify({ name: provider.name, seen, open }));
`;

describe('the built-in CRMs', () => {
  it.each(Object.keys(BUILT_IN))('%s loads no client library and opens nothing before it connects', async (name) => {
    const args = ['--input-type=module', '-e', SCRIPT, providers.href, name];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(JSON.parse(stdout)).toEqual({ name, seen: [], open: [] });
  });

  it('have an emulator each, and a preset and settings of their own', async () => {
    expect(Object.keys(EMULATORS)).toEqual(Object.keys(BUILT_IN));
    for (const [name, load] of Object.entries(BUILT_IN)) {
      const provider = await load();
      expect([provider.name, provider.contract]).toEqual([name, CONTRACT_VERSION]);
      expect(provider.preset.length).toBeGreaterThan(5);
      const emulator = await EMULATORS[name]?.({});
      expect(emulator?.name).toBe(name);
      expect(emulator?.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+/);
      await emulator?.close();
    }
  });
});

it('gives authors every type of a record and of an id', () => {
  const exported = readFileSync(new URL('../../providers/author.ts', import.meta.url), 'utf8');
  const contract = readFileSync(new URL('../../providers/provider.ts', import.meta.url), 'utf8');
  const types = /export type \{([^}]*)\} from '.\/record.ts'/.exec(contract)?.[1]?.match(/\w+/g) ?? [];
  expect(types.length).toBeGreaterThan(3);
  expect(types.filter((type) => !exported.includes(`type ${type},`))).toEqual([]);
});
