/** `/composite` of an emulated org: calls in a row, each of which may name what an earlier one made; all or none. */
import type { EmulatorAnswer } from '../../emulator.ts';
import { objectOf, textOf } from '../client/json.ts';
import type { Org } from './org/org.ts';
import type { StoredRow } from './org/tables.ts';
import { refusal } from './refusal.ts';

const MAX_CALLS = 25;
const OBJECTS_UNDONE = ['Task', 'ContentNote', 'ContentDocumentLink'];

/** Answers a composite call; `create` makes one record of an object. */
export function answerComposite(
  org: Org,
  json: unknown,
  create: (object: string, body: unknown) => EmulatorAnswer,
): EmulatorAnswer {
  const { compositeRequest, allOrNone } = objectOf(json) ?? {};
  if (!Array.isArray(compositeRequest) || compositeRequest.length > MAX_CALLS || allOrNone !== true)
    return refusal(400, 'INVALID_INPUT', 'the emulator takes up to 25 calls, all or none');
  const before = new Map(OBJECTS_UNDONE.map((object) => [object, new Set(org.tables.rows(object))]));
  const made = new Map<string, string>();
  const answers: { readonly referenceId: string; readonly answer: EmulatorAnswer }[] = [];
  for (const item of compositeRequest) {
    const { method, url, referenceId, body } = objectOf(item) ?? {};
    const object = /^\/services\/data\/v\d+\.0\/sobjects\/(\w+)$/.exec(textOf(url) ?? '')?.[1];
    if (method !== 'POST' || object === undefined)
      return refusal(400, 'INVALID_INPUT', 'the emulator knows POST /services/data/vXX.0/sobjects/OBJECT only');
    const answer = create(object, resolve(body, made));
    const { id } = objectOf(answer.body) ?? {};
    answers.push({ referenceId: String(referenceId), answer });
    if (typeof id === 'string') made.set(String(referenceId), id);
  }
  const failed = answers.some(({ answer }) => answer.status >= 400);
  if (failed) undo(org, before);
  return { status: 200, body: { compositeResponse: answers.map((one) => responseOf(one, failed)) } };
}

/** A request that did not fail itself is answered as halted. */
function responseOf(
  { referenceId, answer }: { readonly referenceId: string; readonly answer: EmulatorAnswer },
  failed: boolean,
) {
  const shown = failed && answer.status < 400 ? HALTED : answer;
  return { body: shown.body, httpHeaders: {}, httpStatusCode: shown.status, referenceId };
}

const resolve = (body: unknown, made: ReadonlyMap<string, string>): object =>
  Object.fromEntries(
    Object.entries(objectOf(body) ?? {}).map(([name, value]) => {
      const reference = /^@\{(\w+)\.id\}$/.exec(String(value))?.[1];
      return [name, reference === undefined ? value : (made.get(reference) ?? value)];
    }),
  );

function undo(org: Org, before: ReadonlyMap<string, ReadonlySet<StoredRow>>): void {
  for (const [object, kept] of before) org.tables.remove(org.tables.rows(object).filter((row) => !kept.has(row)));
}

const HALTED = refusal(
  400,
  'PROCESSING_HALTED',
  'The transaction was rolled back since another operation in the same transaction failed.',
);
