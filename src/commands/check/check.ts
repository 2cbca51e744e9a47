/** `check`: tests everything that the daemon needs before it runs, and says what is wrong and what to do. */
import type { Config } from '../../config/load.ts';
import { openClient } from '../../http/outbound/client.ts';
import { errorText } from '../../protocol/text/error-text.ts';
import type { Finding, Findings } from '../../runtime/finding.ts';
import { openStore } from '../../store/engines/open.ts';
import { LostStoreError } from '../../store/file/marker.ts';
import { SchemaError } from '../../store/migrations/migrations.ts';
import { MovedStoreError } from '../../store/move/mark.ts';
import type { Store } from '../../store/store.ts';
import { nothingToRun } from '../arguments/nothing-to-run.ts';
import { shownStore, storeExists } from '../arguments/with-store.ts';
import { defineCommand, flag, positive } from '../cli/command.ts';
import type { CommandContext } from '../cli/context.ts';
import { allFindings, diskFindings, warningsOf } from './findings.ts';
import { readableFindings } from './readable-files.ts';

export const command = defineCommand({
  name: 'check',
  examples: ['check', 'check --all', 'check --create-properties'],
  audit: { action: 'property.create', where: 'createProperties' },
  about:
    'test configuration, store, upstream key, CRM credentials, mapped properties, register, mail server and monitors, and say what to fix',
  options: {
    all: flag('show also what is as it should be'),
    timeout: positive('stop all tests after this many seconds (default 60)', 'seconds'),
    createProperties: flag(
      'create the properties that a mapping needs and a CRM lacks; needs the right to change its schema',
    ),
  },
  run: async (context, _args, { timeout = 60, createProperties, all }) => {
    const loaded = await context.loaded();
    const { config, file } = loaded;
    const missing = nothingToRun(config);
    const findings: Finding[] = [
      missing === undefined
        ? { level: 'ok', subject: 'configuration', found: file }
        : { level: 'fail', subject: 'configuration', found: missing },
      ...(await readableFindings(loaded)),
      ...warningsOf(config),
    ];
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(timeout * 1_000)]);
    const opened = missing === undefined ? await tryStore(config) : { store: undefined, findings: [] };
    findings.push(...opened.findings);
    const client = openClient({ env: context.env });
    try {
      if (opened.store === undefined)
        findings.push({
          level: 'warn',
          subject: 'all else',
          found: 'not checked',
          advice: missing === undefined ? 'fix the store first' : 'fix the configuration first',
        });
      else {
        const subject = { config, store: opened.store, http: client.http };
        findings.push(...(await allFindings(subject, signal, { createProperties })));
      }
    } finally {
      await client.close();
      await opened.store?.close();
    }
    // Shows all findings after creating properties.
    const isWhole = all || createProperties;
    showFindings(context, findings, isWhole);
    const count = (level: Finding['level']) => findings.filter((each) => each.level === level).length;
    const fine = findings.filter((each) => !asks(each)).length;
    const rest = isWhole || context.json || fine === 0 ? '' : ` ${fine} more are as they should be: --all shows them.`;
    context.output.line(`\n${count('fail')} to fix, ${count('warn')} to look at.${rest}`);
    return count('fail') > 0 ? 1 : 0;
  },
});

const ORDER: readonly Finding['level'][] = ['fail', 'warn', 'info', 'ok'];

/** What to fix first, then what else needs a person; with `all`, and for programs, every finding. */
function showFindings({ output, json }: CommandContext, findings: Findings, all: boolean): void {
  const order = (finding: Finding): number => (json ? 0 : ORDER.indexOf(finding.level));
  const shown = findings
    .filter((finding) => all || json || asks(finding))
    .toSorted((a, b) => order(a) - order(b))
    .map(({ level, subject, found, advice }) => ({ level, subject, found, ...(advice !== undefined && { advice }) }));
  output.table(shown, 'Everything is as it should be.');
}

const asks = ({ level, advice }: Finding): boolean =>
  level === 'fail' || level === 'warn' || (level === 'info' && advice !== undefined);

interface OpenedStore {
  readonly store: Store | undefined;
  readonly findings: Findings;
}

/** Creates the tables of an empty store; does not migrate one with tables, which a daemon may be using. */
async function tryStore(config: Config): Promise<OpenedStore> {
  const isNew = !storeExists(config.store);
  try {
    const store = await openStore(config.store, { migrate: 'new' });
    try {
      return { store, findings: await tryWriting(store, config, isNew) };
    } catch (error) {
      await store.close();
      throw error;
    }
  } catch (error) {
    const found = errorText(error);
    const saysWhat = [SchemaError, LostStoreError, MovedStoreError].some((kind) => error instanceof kind);
    const advice = saysWhat ? {} : { advice: 'see the setting `store`' };
    return { store: undefined, findings: [{ level: 'fail', subject: 'store', found, ...advice }] };
  }
}

async function tryWriting(store: Store, config: Config, isNew: boolean): Promise<Findings> {
  await store.write(async (tx) => {
    await tx
      .insertInto('kv')
      .values({ key: '@check', value: '', updated_at: Date.now() })
      .onConflict((at) => at.doNothing())
      .execute();
    await tx.deleteFrom('kv').where('key', '=', '@check').execute();
  });
  const found = `${shownStore(config.store)}, ${isNew ? 'made, ' : ''}schema current, writable`;
  return [{ level: 'ok', subject: 'store', found }, ...(await diskFindings(store, config))];
}
