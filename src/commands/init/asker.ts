/** Asks the questions of a set-up in a terminal, or takes the answers from options or a pipe. */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { askedParts, type ChoiceQuestion, isNeeded, type Question, type QuestionPart } from '../../setup/questions.ts';
import { UsageError } from '../cli/command.ts';
import { canAsk } from '../cli/confirm.ts';
import type { CommandContext } from '../cli/context.ts';

interface LineQuestion {
  /** Its name among the options: `hubspot.accessToken`. */
  readonly key: string;
  readonly about: string;
  /** The default answer. */
  readonly usual?: string | undefined;
  readonly choices?: readonly string[];
  readonly isSecret?: boolean;
}

export interface Asker {
  /** Throws {@link UsageError} if the answer is missing or not one of the choices. */
  ask(question: LineQuestion): Promise<string>;
  /** Asks the questions of a schema that need an answer, and takes the others from the options. */
  askAll(
    section: string,
    parts: readonly QuestionPart[],
    isAsked?: (part: Question | ChoiceQuestion) => boolean,
  ): Promise<(name: string) => string>;
  /** Whether an option answers this question, or one of its section. */
  isGiven(key: string): boolean;
  /** The options that answered no question so far. */
  unused(): readonly string[];
  close(): void;
}

/** Options of the form `key=value`; `key=@file` reads the value from a file. */
export function givenAnswers(options: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    options.map((option) => {
      const [, key, value = ''] = /^([^=]+)=(.*)$/su.exec(option) ?? [];
      if (key === undefined) throw new UsageError(`${option} is not KEY=VALUE, as in hubspot.match=cvr_number`);
      return [key, value.startsWith('@') ? readFileSync(value.slice(1), 'utf8').trim() : value];
    }),
  );
}

/** Opens the terminal or the pipe. The caller must close it. */
export function openAsker(context: CommandContext, given: ReadonlyMap<string, string>): Asker {
  const lines = openLines(context);
  const asked = new Set<string>();
  const ask = async ({ key, about, usual, choices = [], isSecret = false }: LineQuestion): Promise<string> => {
    asked.add(key);
    const known = given.get(key);
    const hint = choices.length > 0 ? ` (${choices.join(', ')})` : '';
    const preset = usual === undefined || usual === '' ? '' : ` [${usual}]`;
    const typed = known ?? (await lines.next(`${about}${hint}${preset}: `, isSecret)) ?? '';
    const answer = typed === '' ? (usual ?? '') : typed;
    if (choices.length > 0 && !choices.includes(answer))
      throw new UsageError(`${key} is one of ${choices.join(', ')}: give --set ${key}=...`);
    return answer;
  };
  return {
    ask,
    async askAll(section, parts, isAsked = isNeeded) {
      const answers = new Map<string, string>();
      const answer = (name: string): string => answers.get(name) ?? '';
      const seen = new Set<string>();
      // The answer to a choice adds questions.
      const next = () => askedParts(parts, answer).find(({ name }) => !seen.has(name));
      for (let part = next(); part !== undefined; part = next()) {
        seen.add(part.name);
        const question = lineQuestion(`${section}.${part.name}`, part);
        if (isAsked(part) || given.has(question.key)) answers.set(part.name, await ask(question));
      }
      return answer;
    },
    isGiven: (key) => [...given.keys()].some((each) => each === key || each.startsWith(`${key}.`)),
    unused: () => [...given.keys()].filter((key) => !asked.has(key)),
    close: () => lines.close(),
  };
}

/** The default of a choice is its first option. */
function lineQuestion(key: string, part: Question | ChoiceQuestion): LineQuestion {
  const choices = part.kind === 'choice' ? part.options.map(({ value }) => value) : [];
  const usual = part.preset === undefined ? choices[0] : String(part.preset);
  return { key, about: part.about.replace(/\.$/u, '') || key, usual, choices, isSecret: part.kind === 'secret' };
}

/** Reads lines from a person or a pipe. */
function openLines(context: CommandContext) {
  const { stdin, stderr, signal } = context;
  let isMuted = false;
  const output = new Writable({
    write(chunk, _encoding, done) {
      if (!isMuted) stderr.write(String(chunk));
      done();
    },
  });
  const isTerminal = canAsk(context);
  const reader = stdin && createInterface({ input: stdin, output, terminal: isTerminal, signal });
  const lines = reader?.[Symbol.asyncIterator]();
  return {
    async next(prompt: string, isSecret: boolean): Promise<string | undefined> {
      stderr.write(prompt);
      isMuted = isSecret;
      const line = await lines?.next();
      isMuted = false;
      if (isSecret || !isTerminal) stderr.write('\n');
      return line?.done === true ? undefined : line?.value.trim();
    },
    close: () => reader?.close(),
  };
}
