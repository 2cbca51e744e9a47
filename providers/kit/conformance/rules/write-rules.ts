/** Rules about concurrent writes. */

import type { HttpRequest } from '../../../provider.ts';
import type { FaultAction } from '../../emulator/emulator.ts';
import { brief, insist, insistSame, isProviderError } from '../lab/insist.ts';
import { of } from '../lab/lab.ts';
import type { ConformanceRule } from '../lab/rule.ts';

const CONDITION = /^if-(?:match|unmodified-since)$/iu;
/** The condition in a body that holds several calls. */
const INNER_CONDITION = /"if-(?:match|unmodified-since)"\s*:/iu;

const isConditional = ({ headers = {}, body = '' }: HttpRequest): boolean =>
  Object.keys(headers).some((name) => CONDITION.test(name)) || INNER_CONDITION.test(body);

const conflict = (status: number): FaultAction => ({ kind: 'status', status, body: { message: 'a conflict' } });

export const WRITE_RULES: readonly ConformanceRule[] = [
  {
    name: 'precondition-guards',
    about:
      'a write with If-Match or If-Unmodified-Since does not change a record that was edited after its version was read',
    why: 'a precondition that always holds, such as If-Match: *, looks like a guard and lets edits of people be overwritten',
    run: async ({ ids, fake, held, meet, text, write }) => {
      const [id = ''] = ids;
      const isMet = meet(isConditional, () => fake.edit(id, { [text]: 'Edited in between' }));
      const outcome = of(await write([id], { [text]: 'Ny' }), id);
      if (!isMet()) return;
      insistSame(
        held(id),
        'Edited in between',
        'the value of a record that was edited right before a conditional write',
      );
      insistSame(outcome?.kind, 'retry', 'the outcome of its patch');
    },
  },
  {
    name: 'conflict-is-not-written',
    about: 'a write that the CRM answers with 409 or 412 is not written, and its record is not gone or moved',
    why: "the change would be lost without a trace, and cvrsync would later overwrite a person's value as its own",
    run: async ({ ids, fault, text, write }) => {
      for (const status of [409, 412]) {
        fault('update', conflict(status));
        const outcomes = await write(ids.slice(0, 1), { [text]: 'Ny' }).catch((error: unknown) => {
          if (isProviderError(error)) return [];
          throw error;
        });
        const wrong = outcomes.find(({ kind }) => ['written', 'gone', 'moved'].includes(kind));
        insist(wrong === undefined, `a write that was answered with ${status} came back as ${brief(wrong)}`);
      }
    },
  },
];
