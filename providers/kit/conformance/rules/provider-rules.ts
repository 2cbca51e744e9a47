/** Rules about a provider before it connects. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { limitsMisfit } from '../../../contract-schemas.ts';
import { isFieldName } from '../../../fields.ts';
import { CONTRACT_VERSION } from '../../../provider.ts';
import { BrokenExpectation, brief, insist, insistFits } from '../lab/insist.ts';
import { settingsOf } from '../lab/lab.ts';
import type { BareRule } from '../lab/rule.ts';
import { startFake } from '../lab/whole-subject.ts';

const POLICIES: readonly string[] = ['tracked', 'always', 'if-blank', 'never'];
const IMPORT_MS = 20_000;

/** Runs in a separate process: imports a module and reports what it left open. */
const SCRIPT = `
  const before = process.getActiveResourcesInfo().length;
  const isQuiet = (kind) => /Pipe|TTY|FSReq|Immediate|CloseReq|Inspector/.test(kind);
  await import(process.argv[1]);
  await new Promise((resolve) => setImmediate(resolve));
  const open = process.getActiveResourcesInfo().filter((kind) => !isQuiet(kind));
  process.stdout.write('\\n' + JSON.stringify({ open }) + '\\n', () => process.exit(0));
`;

export const PROVIDER_RULES: readonly BareRule[] = [
  {
    name: 'whole-provider',
    about: 'a provider has a name, a line about itself, a contract version, sound limits and a preset of known fields',
    why: 'the runtime refuses an invalid provider at the start, when nobody has time to repair it',
    run: async (subject) => {
      const { provider } = subject;
      insist(/^[A-Za-z0-9@][\w@./-]*$/.test(provider.name), `its name is ${brief(provider.name)}`);
      insist(provider.about.trim() !== '', 'about is empty');
      insist(
        /^\d+\.\d+\.\d+$/.test(provider.contract),
        `contract is ${brief(provider.contract)}, which is not a version such as ${CONTRACT_VERSION}`,
      );
      for (const row of provider.preset) {
        insist(isFieldName(row.field), `the preset maps ${brief(row.field)}, which is not a field`);
        insist(POLICIES.includes(row.policy), `the preset gives ${row.field} the policy ${brief(row.policy)}`);
        insist(row.property !== '', `the preset maps ${row.field} to no property`);
      }
      const fake = await startFake(subject);
      try {
        insistFits(limitsMisfit(provider.limits(settingsOf(provider, fake.settings))), 'limits');
      } finally {
        await fake.close();
      }
    },
  },
  {
    name: 'opens-nothing-on-import',
    about: 'importing the module opens no socket, starts no timer and ends at once',
    why: 'cvrsync imports every provider to check, show and document a configuration, even those that it does not connect',
    has: ({ module }) => module !== undefined,
    run: async ({ module = '' }) => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', SCRIPT, module], {
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: IMPORT_MS,
        killSignal: 'SIGKILL',
      });
      const output = { out: '', err: '' };
      child.stdout.on('data', (chunk: Buffer) => (output.out += chunk.toString()));
      child.stderr.on('data', (chunk: Buffer) => (output.err += chunk.toString()));
      const [code, signal]: unknown[] = await once(child, 'close');
      insist(signal === null, `the import did not end within ${IMPORT_MS / 1_000} s`);
      insist(code === 0, `the import failed: ${firstError(output.err)}`);
      const { open } = lastLine(output.out);
      insist(open.length === 0, `after the import these are open: ${open.join(', ')}`);
    },
  },
  {
    name: 'webhook-distrusts',
    about: 'a request that the CRM did not sign, or that is not a webhook, is refused or unreadable, and never throws',
    why: 'anybody on the internet can post to the address: cvrsync reads the records that it names, and an exception is an alarm',
    has: ({ provider }) => provider.webhook !== undefined,
    run: async (subject) => {
      const fake = await startFake(subject);
      try {
        const settings = settingsOf(subject.provider, fake.settings);
        for (const text of ['', '{"ids":', '[]', `[{"objectId":${JSON.stringify(subject.absentId)}}]`]) {
          const request = { method: 'POST', url: 'https://sync.example.com/providers/x/webhook', headers: {} };
          const body = new TextEncoder().encode(text);
          const read = subject.provider.webhook?.({ ...request, body }, settings, Date.now());
          insist(
            read?.kind === 'refused' || read?.kind === 'unreadable',
            `an unsigned request with the body ${brief(text)} was read as ${brief(read)}`,
          );
        }
      } catch (error) {
        throw error instanceof BrokenExpectation
          ? error
          : new BrokenExpectation(`it threw ${brief(error)}`, { cause: error });
      } finally {
        await fake.close();
      }
    },
  },
];

const firstError = (stderr: string): string =>
  stderr.split('\n').find((line) => /Error/.test(line)) ?? stderr.slice(0, 300);

function lastLine(stdout: string): { readonly open: readonly string[] } {
  const found: unknown = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}');
  const open = typeof found === 'object' && found !== null && 'open' in found ? found.open : [];
  return { open: Array.isArray(open) ? open.map(String) : [] };
}
