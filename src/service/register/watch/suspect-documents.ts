/** Names register documents as inputs that may crash the process, and requests them again. */
import { companyEntityId } from '../../../protocol/entity-id.ts';
import { type Claim, mark } from '../../../runtime/lanes/lanes.ts';
import { createInputReader, type InputOptions, type InputReader } from '../../../runtime/lanes/poison.ts';
import { ASK_QUEUE } from '../../names/queues.ts';
import { digestOf } from '../source/source.ts';
import { numberIn } from './read-page.ts';

/**
 * One name for all lanes that read documents: a document can come in a page, on request, and again when a date in it
 * comes.
 */
const SOURCE = 'register';

export const documentReader = (
  { store, now, log }: Pick<InputOptions, 'store' | 'now' | 'log'>,
  claims: readonly Claim[],
): Promise<InputReader> =>
  createInputReader({
    store,
    now,
    log,
    claims,
    source: SOURCE,
    retry: (tx, inputs) => mark(tx, ASK_QUEUE, inputs.flatMap(companyOf), now()),
  });

/** A document's number, with which the names of its versions begin. */
export const documentStart = (document: unknown): string => `${numberIn(document)} `;

/** A document's number and content: the next version of a quarantined document is another input. */
export const documentInput = (document: unknown): string =>
  `${documentStart(document)}${digestOf(document).slice(0, 12)}`;

/** The company to request; units are not requested, because their next version comes by itself. */
const companyOf = (input: string): readonly string[] => {
  const [number = ''] = input.split(' ');
  return /^\d{8}$/u.test(number) ? [companyEntityId(number)] : [];
};
