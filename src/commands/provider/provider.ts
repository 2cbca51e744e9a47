/** `provider`: for authors of providers. `new` writes a package, `test` runs every rule of the contract on it. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import type { RuleResult } from '../../../providers/kit/conformance/conformance.ts';
import { didYouMean } from '../../config/schema/nearest.ts';
import { errorText } from '../../protocol/text/error-text.ts';
import { makeFolder } from '../../store/prepare-file.ts';
import { defineCommand, integer, needed, text, texts, UsageError } from '../cli/command.ts';
import { namesFrom, writeScaffold } from './scaffold.ts';
import { describeSubject, tryRules } from './trial.ts';

const create = defineCommand({
  name: 'new',
  examples: ['provider new my-crm'],
  about: 'write a small working provider package: contract, settings, mapping, a fake of its CRM, tests',
  args: { name: needed('the name of the package: my-crm, or @acme/my-crm') },
  options: { folder: text("write into this folder (default: the provider's name)", 'folder') },
  run: async ({ output }, { name }, { folder }) => {
    const names = namesFrom(name);
    if (names === undefined)
      throw new UsageError(
        `${name} is not a valid name for a provider: use small letters, digits and hyphens, such as my-crm`,
      );
    const target = resolve(folder ?? names.provider);
    const there = await readdir(target).catch(() => []);
    if (there.length > 0) throw new UsageError(`${target} is not empty: name another one with --folder`);
    try {
      makeFolder(target);
    } catch (error) {
      const reason = error instanceof Error && 'code' in error ? String(error.code) : errorText(error);
      throw new UsageError(
        `${target} cannot be created (${reason}): name a folder where you may write with --folder, in the image one below data`,
      );
    }
    const files = await writeScaffold(target, names);
    const shown = relative('.', target) || '.';
    // In a clone, the package may need cvrsync to be built first.
    const isBuilt =
      !import.meta.url.endsWith('.ts') || existsSync(join(import.meta.dirname, '../../../dist/provider.js'));
    output.result(
      { folder: target, files },
      [
        `Wrote ${files.length} files to ${shown}:`,
        ...files.map((file) => `  ${file}`),
        '',
        'It works as it is, for an invented CRM. Next:',
        `  cd ${shown} && npm install && npm test`,
        ...(isBuilt ? [] : ['  (first run `npm run build` in the clone: the package is built with this cvrsync)']),
        '  then make test/fake.ts answer as your CRM does, and src/ understand its answers',
      ].join('\n'),
    );
    return 0;
  },
});

const RESULT_SIGNS: Readonly<Record<RuleResult['kind'], string>> = {
  kept: '✓',
  broken: '✗',
  absent: '·',
  skipped: '-',
};

const test = defineCommand({
  name: 'test',
  examples: ['provider test .', 'provider test . --rule status-429'],
  about: 'test a provider with every rule of the contract: shows each broken rule, what was seen and why it matters',
  args: { path: needed("the folder of a provider's source, or the file that exports its subject") },
  options: {
    rule: texts('run only this rule; may be repeated', 'name'),
    ruleSeconds: integer('how long one rule may take (default 60)', 'seconds'),
    seconds: integer('how long all rules together may take (default 900)', 'seconds'),
  },
  run: async ({ output, signal, json }, { path }, { rule, ruleSeconds = 60, seconds = 900 }) => {
    const limits = { ruleMs: ruleSeconds * 1_000, allMs: seconds * 1_000 };
    const { provider: name, contract, rules } = await describeSubject(path, limits, signal);
    for (const asked of rule)
      if (!rules.includes(asked)) throw new UsageError(`there is no rule ${asked}${didYouMean(asked, rules)}`);
    const chosen = rule.length === 0 ? rules : rules.filter((each) => rule.includes(each));
    const results: RuleResult[] = [];
    for await (const result of tryRules(path, chosen, limits, signal)) {
      results.push(result);
      for (const line of linesOf(result)) output.line(line);
    }
    const count = (kind: RuleResult['kind']) => results.filter((result) => result.kind === kind).length;
    const counts = {
      kept: count('kept'),
      broken: count('broken'),
      absent: count('absent'),
      skipped: count('skipped'),
    };
    const summary = `${counts.kept} rules kept, ${counts.broken} broken, ${counts.skipped} skipped, ${counts.absent} about abilities it does not have`;
    if (json) output.result({ provider: name, contract, ...counts, results }, '');
    else output.line(`\n${name}, contract ${contract}: ${summary}.`);
    return counts.broken === 0 ? 0 : 1;
  },
});

function linesOf({ kind, name, about, why, detail }: RuleResult): readonly string[] {
  const first = `${RESULT_SIGNS[kind]} ${name}: ${about}`;
  if (kind === 'absent') return [`${first} (it does not have the ability)`];
  if (kind === 'skipped') return [`${first} (skipped: ${detail})`];
  return kind === 'kept' ? [first] : [first, `    seen: ${detail}`, `    why it matters: ${why}`];
}

export const command = defineCommand({
  name: 'provider',
  about: 'write a provider for another CRM: new, test',
  commands: [create, test],
});
