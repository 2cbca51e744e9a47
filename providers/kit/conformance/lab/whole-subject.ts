/** Checks that a subject and its fake are complete: a missing part would look like a rule that the provider broke. */
import Type from 'typebox';
import { Value } from 'typebox/value';
import { BrokenExpectation, brief } from './insist.ts';
import type { FakeCrm, Subject } from './subject.ts';

/** The subject or its fake is wrong, not the provider; the message names the part. */
export class WrongSubject extends BrokenExpectation {
  constructor(part: string, cause?: unknown) {
    super(`the subject is wrong, not the provider: ${part}`, { cause });
  }
}

const TEXT = Type.String({ minLength: 1 });
const OPTIONAL_TEXT = Type.Optional(TEXT);
const OBJECT = Type.Object({});

/** The data in a {@link Subject}. */
const SUBJECT = Type.Object({
  secrets: Type.Array(Type.String()),
  properties: Type.Object({
    ...{ text: TEXT, long: TEXT, number: TEXT },
    ...{ choice: OPTIONAL_TEXT, date: OPTIONAL_TEXT, datetime: OPTIONAL_TEXT, boolean: OPTIONAL_TEXT },
    ...{ amount: OPTIONAL_TEXT, fraction: OPTIONAL_TEXT, site: OPTIONAL_TEXT },
  }),
  company: Type.Optional(OBJECT),
  refused: Type.Optional(Type.Object({ property: TEXT, value: Type.Unknown() })),
  readOnly: OPTIONAL_TEXT,
  absentId: TEXT,
  calls: Type.Object({ read: TEXT, update: TEXT, create: OPTIONAL_TEXT, search: OPTIONAL_TEXT }),
  answers: Type.Optional(OBJECT),
  hangMs: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
  lacks: Type.Optional(Type.Record(Type.String(), TEXT)),
});

/** Throws {@link WrongSubject} if a member of the subject is wrong. */
export function checkSubject(subject: Subject): void {
  const [error] = Value.Errors(SUBJECT, subject);
  if (error !== undefined) {
    const path = error.instancePath.slice(1).replaceAll('/', '.');
    throw new WrongSubject(`${path === '' ? 'it' : path} ${error.message}`);
  }
  for (const [call, pattern] of Object.entries(subject.calls)) {
    try {
      new RegExp(pattern);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : brief(cause);
      throw new WrongSubject(
        `calls.${call} is matched with METHOD /path, and is not a regular expression: ${reason}`,
        cause,
      );
    }
  }
}

const FUNCTIONS = ['add', 'get', 'remove', 'edit', 'fault', 'close'] as const;

/** Starts the fake of a subject; throws {@link WrongSubject} if it does not start, or lacks a part. */
export async function startFake(subject: Subject): Promise<FakeCrm> {
  const fake = await started(subject);
  const given: unknown = fake;
  if (typeof given !== 'object' || given === null)
    throw new WrongSubject(`start gave ${brief(given)} instead of the fake CRM that it opened`);
  const lacking = FUNCTIONS.filter((name) => typeof fake[name] !== 'function');
  if (lacking.length > 0) throw new WrongSubject(`the fake that start gave has no function ${lacking.join(', ')}`);
  const settings: unknown = fake.settings;
  if (typeof settings !== 'object' || settings === null)
    throw new WrongSubject(`the settings of the fake are ${brief(settings)}: they must let the provider reach it`);
  return fake;
}

async function started(subject: Subject): Promise<FakeCrm> {
  try {
    return await subject.start();
  } catch (cause) {
    throw new WrongSubject(`start threw ${brief(cause instanceof Error ? cause.message : cause)}`, cause);
  }
}

/** Adds a company to a fake; throws {@link WrongSubject} if that returns no id. */
export function addCompany({ company, properties }: Subject, fake: FakeCrm, name: string): string {
  const id: unknown = fake.add({ ...company, [properties.text]: name });
  if (typeof id === 'string' && id !== '') return id;
  throw new WrongSubject(`add of the fake gave ${brief(id)} instead of the company's id as a text`);
}
