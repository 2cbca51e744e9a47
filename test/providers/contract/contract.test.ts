/** The contract changes only with its version, and keeps what was written for an earlier one. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CONTRACT_VERSION } from '../../../providers/provider.ts';
import { loadProvider } from '../../../src/config/plugins/plugin.ts';
import { describeConformance } from '../conforms.ts';
import { subject } from './first/fake.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** What `cvrsync/provider` exports, and what that is made of. */
const MODULES = ['author', 'provider', 'record', 'abilities', 'fields', 'retry-after'];

describe('the provider contract', () => {
  let folder = '';
  let compiled: { readonly code: number; readonly stdout: string };
  let types = '';

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cvrsync-contract-'));
    const compilerOptions = {
      ...{ noEmit: false, declaration: true, emitDeclarationOnly: true, removeComments: true },
      ...{ rootDir: ROOT, outDir: folder, typeRoots: [join(ROOT, 'node_modules/@types')] },
    };
    const files = ['providers/author.ts', 'test/providers/contract/first/fake.ts'].map((file) => join(ROOT, file));
    const project = join(folder, 'tsconfig.json');
    writeFileSync(
      project,
      JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), compilerOptions, files, include: [] }),
    );
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    compiled = await promisify(execFile)(process.execPath, [tsc, '-p', project]).then(
      ({ stdout }) => ({ code: 0, stdout }),
      ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
    );
    const declared = MODULES.map((name) => readFileSync(join(folder, `providers/${name}.d.ts`), 'utf8'));
    types = declared.map((text, at) => `// ${MODULES[at]}\n${text.replace(CONTRACT_VERSION, 'VERSION')}`).join('\n');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('has the types that its version had first: a change of them needs another version, and a report of that', async () => {
    await expect(types).toMatchFileSnapshot(`api-${CONTRACT_VERSION}.txt`);
  });

  it('compiles the first provider', () => {
    expect(compiled).toEqual({ code: 0, stdout: '' });
  });

  it('loads the first provider', async () => {
    expect(await loadProvider('./provider.ts', join(import.meta.dirname, 'first'))).toMatchObject({ ok: true });
  });
});

describeConformance('the first provider', subject);
