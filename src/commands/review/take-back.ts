/** `review answered` and `review take-back`: lists people's answers, and takes them back. */
import { readAnswers } from '../../connector/review/given-answers.ts';
import type { TakenBack } from '../../connector/review/take-back.ts';
import type { Selection } from '../../connector/undo/writes.ts';
import { CHANGED, takeAnswerBack } from '../../operations/connector/review.ts';
import { attempt, perform, Refused } from '../../operations/definition/operation.ts';
import { commandActor } from '../arguments/actor.ts';
import { withStore } from '../arguments/with-store.ts';
import { defineCommand, type ExitCode, many, positive, UsageError } from '../cli/command.ts';
import { commandLine } from '../cli/command-line.ts';
import type { CommandContext } from '../cli/context.ts';
import { timeCell } from '../cli/when.ts';

const SHOWN = 100;

export const answered = defineCommand({
  name: 'answered',
  examples: ['review answered --limit 20'],
  about: 'show the answers that can be taken back, the newest first',
  options: { limit: positive(`show at most this many (default ${SHOWN})`) },
  async run(context, _args, { limit = SHOWN }) {
    const given = await withStore(context, ({ db }) => readAnswers(db, limit));
    const shown = given.map(({ subject: id, verb, at }) => ({ id, answer: verb, at: timeCell(at) }));
    context.output.table(shown, 'No answer can be taken back.');
    return 0;
  },
});

export const takeBackCommand = defineCommand({
  name: 'take-back',
  examples: ['review take-back link/hubspot/1234567890'],
  operation: takeAnswerBack.name,
  about: 'take answers back: restore what each replaced, and put the entry back into review',
  args: { ids: many('ids as `review answered` shows them') },
  run: (context, { ids }) => takeAllBack(context, ids),
});

async function takeAllBack(context: CommandContext, ids: readonly string[]): Promise<ExitCode> {
  if (ids.length === 0) throw new UsageError('name at least one id from `cvrsync review answered`');
  const results: { readonly id: string; readonly result: TakenBack }[] = [];
  const by = { actor: commandActor(), via: 'command' } as const;
  await withStore(context, async (store) => {
    for (const id of ids) {
      const taken = await attempt(() => perform(takeAnswerBack, { id }, { store, now: Date.now }, by));
      results.push({
        id,
        result:
          taken instanceof Refused ? refusalOf(taken) : { kind: 'done', note: taken.note, written: taken.written },
      });
    }
  });
  const lines = results.map(({ id, result }) => `${id}: ${resultText(context, result)}`);
  context.output.result(results, lines.join('\n'));
  return results.every(({ result }) => result.kind === 'done') ? 0 : 1;
}

const refusalOf = ({ code }: Refused): TakenBack => ({ kind: code === CHANGED ? 'changed' : 'unknown' });

function resultText(context: CommandContext, result: TakenBack): string {
  if (result.kind === 'unknown') return 'no answer to it can be taken back: see `cvrsync review answered`';
  if (result.kind === 'changed') return 'not done: it changed since';
  return [result.note, ...result.written.map((selection) => `  ${undoCommand(context, selection)}`)].join('\n');
}

/** The undo of what cvrsync wrote because of an answer. */
function undoCommand(context: CommandContext, { provider, property, entity, since }: Selection): string {
  const from = since === undefined ? undefined : new Date(since).toISOString();
  return commandLine(context, 'undo', { provider, property, entity, since: from });
}
