/** Rules about a CRM that answers badly, or not at all. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultAction } from '../../emulator/emulator.ts';
import { brief, faultOf, insist, insistSame, shown, thrownBy } from '../lab/insist.ts';
import { type Lab, live, of } from '../lab/lab.ts';
import { logsDuring } from '../lab/logs.ts';
import type { ConformanceRule } from '../lab/rule.ts';
import { holdsSecret } from '../lab/secrets.ts';
import type { Subject } from '../lab/subject.ts';
import { verbsBeside } from '../lab/verbs.ts';

const UNAUTHORIZED: FaultAction = { kind: 'status', status: 401, body: { message: 'bad credentials' } };
const FORBIDDEN: FaultAction = { kind: 'status', status: 403, body: { message: 'not allowed' } };
const RATE: FaultAction = { kind: 'status', status: 429, body: { message: 'too many calls' } };
const RATE_NAMED: FaultAction = { ...RATE, headers: { 'retry-after': '7' } };
/** The most ms that an aborted verb may take to stop. */
const STOP_MS = 1_000;
const HTML = { 'content-type': 'text/html' };

/** The verbs that work on records, each with the fault that strikes it; `read` only if the CRM can be read. */
function verbs(lab: Lab): readonly ['read' | 'update', (signal?: AbortSignal) => Promise<unknown>][] {
  const write = ['update', (signal?: AbortSignal) => lab.write(lab.ids, { [lab.text]: 'x' }, signal)] as const;
  const reads = lab.subject.lacks?.read === undefined;
  return [
    ...(reads ? [['read', (signal?: AbortSignal) => lab.read(lab.ids, [lab.text], signal)] as const] : []),
    write,
  ].map(([name, work]) => [name, work]);
}

/** Strikes each verb once: it must be unavailable after one call, and work afterwards. */
async function isUnavailable(lab: Lab, what: string, action: FaultAction): Promise<void> {
  for (const [verb, work] of verbs(lab)) {
    lab.fault(verb, action);
    const before = lab.calls();
    const error = await faultOf(work(), `${what} to ${verb}`);
    insistSame(error.fault, 'unavailable', `the fault of ${what} to ${verb}`);
    insistSame(
      lab.callsFrom(verb, before),
      1,
      `calls that ${verb} made after ${what} (the runtime retries, not the provider)`,
    );
  }
  const outcomes = await lab.write(lab.ids, { [lab.text]: 'well' });
  insist(
    outcomes.every(({ kind }) => kind === 'written'),
    `after ${what} a write came back as ${brief(outcomes)}`,
  );
  if (lab.subject.lacks?.read !== undefined) return;
  const reads = await lab.read(lab.ids);
  insist(
    reads.every(({ kind }) => kind === 'found'),
    `after ${what} a read came back as ${brief(reads)}`,
  );
}

async function everywhere(lab: Lab, answer: FaultAction, faults: readonly string[], what: string): Promise<void> {
  for (const [verb, work] of [...verbs(lab), ...(await verbsBeside(lab))]) {
    lab.fake.fault({ match: '.', times: 1_000, action: answer });
    const { fault } = await faultOf(work(), `${what} to ${verb}`);
    insist(faults.includes(fault), `${what} to ${verb} came back as ${fault}; it is ${faults.join(' or ')}`);
  }
}

const checks = (lab: Lab): readonly ['check', () => Promise<unknown>][] =>
  lab.subject.lacks?.check === undefined ? [['check', () => lab.connection.check(live())]] : [];

const unanswered = (name: string, what: string, action: FaultAction): ConformanceRule => ({
  name,
  about: `${what} is unavailable, after one call`,
  why: 'nobody knows what was written: only a later look tells, and an answer made up here would be believed',
  run: (lab) => isUnavailable(lab, what, action),
});

export const FAULT_RULES: readonly ConformanceRule[] = [
  {
    name: 'status-401',
    about: 'refused credentials are `auth`, whichever verb meets them',
    why: 'the account is paused and a person told; as anything else thousands of records would fail one by one',
    run: (lab) => everywhere(lab, lab.subject.answers?.unauthorized ?? UNAUTHORIZED, ['auth'], 'a 401'),
  },
  {
    name: 'status-403',
    about: 'a lack of rights is `refused`, or `auth`',
    why: 'only a person can mend it: trying again spends the calls that others need',
    run: (lab) => everywhere(lab, lab.subject.answers?.forbidden ?? FORBIDDEN, ['refused', 'auth'], 'a 403'),
  },
  {
    name: 'status-429',
    about: 'too many calls is rate, with a wait of its own where the CRM names none',
    why: 'a wait of nothing is a storm: the account stays locked out',
    run: async (lab) => {
      for (const [verb, work] of verbs(lab)) {
        lab.fault(verb, lab.subject.answers?.rate ?? RATE);
        const before = lab.calls();
        const { fault, retryAfterMs } = await faultOf(work(), `a 429 to ${verb}`);
        insistSame(fault, 'rate', `the fault of a 429 to ${verb}`);
        insist(
          (retryAfterMs ?? 0) > 0,
          `a 429 to ${verb} without Retry-After came back with a wait of ${retryAfterMs} ms`,
        );
        insistSame(lab.callsFrom(verb, before), 1, `calls that ${verb} made after a 429`);
      }
      for (const [verb, work] of await verbsBeside(lab)) {
        lab.fake.fault({ match: '.', action: lab.subject.answers?.rate ?? RATE });
        insistSame((await faultOf(work(), `a 429 to ${verb}`)).fault, 'rate', `the fault of a 429 to ${verb}`);
      }
    },
  },
  {
    name: 'status-429-retry-after',
    about: 'too many calls waits as long as Retry-After says, in seconds or as an HTTP date',
    why: 'who comes back too early is locked out for longer, who comes too late leaves changes undone',
    run: async (lab) => {
      const answer = lab.subject.answers?.rateWithRetryAfter ?? RATE_NAMED;
      for (const [verb, work] of verbs(lab)) {
        lab.fault(verb, answer);
        const { fault, retryAfterMs } = await faultOf(work(), `a 429 to ${verb}`);
        insistSame([fault, retryAfterMs], ['rate', 7_000], `fault and wait of a 429 to ${verb} with Retry-After: 7`);
        if (answer.kind !== 'status' || answer.headers?.['retry-after'] === undefined) continue;
        const date = new Date(Date.now() + 20_000).toUTCString();
        lab.fault(verb, { ...answer, headers: { ...answer.headers, 'retry-after': date } });
        const { retryAfterMs: wait = 0 } = await faultOf(work(), `a 429 to ${verb}`);
        insist(
          wait > 10_000 && wait <= 20_000,
          `a 429 to ${verb} with Retry-After: ${date}, 20 s from then, came back with a wait of ${wait} ms (retryAfterMs of cvrsync/provider reads both)`,
        );
      }
    },
  },
  {
    name: 'status-5xx',
    about: '500 in JSON, 502 in HTML and 503 without a body are unavailable, after one call',
    why: 'the records back off and are tried again; taken for a refusal they would wait for a person',
    run: async (lab) => {
      await isUnavailable(lab, 'a 500', { kind: 'status', status: 500, body: { message: 'x' } });
      await isUnavailable(lab, 'a 502', {
        kind: 'status',
        status: 502,
        body: '<html>Bad gateway</html>',
        headers: HTML,
      });
      await isUnavailable(lab, 'a 503', { kind: 'status', status: 503 });
    },
  },
  unanswered('html-success', 'a 200 in HTML', {
    kind: 'status',
    status: 200,
    body: '<html>Maintenance</html>',
    headers: HTML,
  }),
  {
    ...unanswered('empty-success', 'an empty 200', { kind: 'status', status: 200 }),
    needs: ['answers'],
    why: 'a success with nothing in it did nothing: the change would be lost without a trace',
  },
  {
    ...unanswered('success-without-results', 'a 200 without results', { kind: 'status', status: 200, body: {} }),
    needs: ['answers'],
    why: 'a record the CRM said nothing about was not written',
  },
  unanswered('cut-body', 'an answer cut off', { kind: 'cut' }),
  unanswered('reset', 'a connection reset', { kind: 'reset' }),
  unanswered('hang', 'no answer within the deadline', { kind: 'hang' }),
  {
    name: 'lost-answer',
    about: 'a write whose answer was lost is unavailable, and the same write can be made again',
    why: 'it happens with every restart of a CRM: the runtime looks, and writes again what is not there yet',
    run: async (lab) => {
      for (const kind of ['hang', 'reset', 'cut'] as const) {
        lab.fault('update', { kind, applied: true });
        const values = { [lab.text]: `After ${kind}` };
        await faultOf(lab.write(lab.ids, values), `a ${kind} that hid an applied write`);
        const again = await lab.write(lab.ids, values);
        for (const id of lab.ids) {
          insist(
            of(again, id)?.kind === 'written',
            `the same write after a ${kind} came back as ${brief(of(again, id))}`,
          );
          insistSame(lab.held(id), values[lab.text], 'what the CRM holds');
        }
        if (lab.subject.lacks?.scan === undefined)
          insistSame((await lab.scan()).length, lab.ids.length, `records after a ${kind}`);
      }
    },
  },
  {
    name: 'abort',
    about: 'an aborted verb stops at once with the reason of its signal, and begins no call after that',
    why: 'the daemon has seconds to stop; a write that begins afterwards belongs to nobody',
    run: async (lab) => {
      const [first] = verbs(lab);
      insist(first !== undefined, 'there is no verb');
      const [verb, work] = first;
      lab.fake.fault({ match: lab.subject.calls[verb], action: { kind: 'hang' } });
      const stop = new AbortController();
      const reason = new Error('stopping');
      const thrown = thrownBy(work(stop.signal));
      await sleep(20);
      stop.abort(reason);
      const ended = await Promise.race([thrown, sleep(STOP_MS, 'nothing: it goes on')]);
      insist(ended === reason, `an aborted ${verb} ended with ${brief(ended)}, not with the signal's reason`);
      const before = lab.ids.map((id) => lab.held(id));
      const late = await thrownBy(lab.write(lab.ids, { [lab.text]: 'too late' }, stop.signal));
      insist(late === reason, `an update after the abort ended with ${brief(late)}, not with the signal's reason`);
      insistSame(
        lab.ids.map((id) => lab.held(id)),
        before,
        'what the CRM holds after an update that was aborted before it began',
      );
    },
  },
  {
    name: 'no-secret-shown',
    about: 'no error holds a secret: not in its message, its cause or any field of it',
    why: 'errors are stored, logged, mailed and read by people who may not write in the CRM',
    run: async (lab) => {
      const { answers, secrets } = lab.subject;
      const bad: readonly FaultAction[] = [
        answers?.unauthorized ?? UNAUTHORIZED,
        answers?.forbidden ?? FORBIDDEN,
        answers?.rate ?? RATE,
        { kind: 'status', status: 400, body: { message: 'a bad request' } },
        { kind: 'status', status: 500, body: { message: 'x' } },
        { kind: 'status', status: 200, body: '<html>Maintenance</html>', headers: HTML },
        { kind: 'reset' },
      ];
      for (const action of bad.map((each) => echoing(each, secrets)))
        for (const [verb, work] of [...verbs(lab), ...checks(lab)]) {
          lab.fake.fault({ match: '.', times: 1, action });
          const ended = await work().catch((error: unknown) => error);
          const text = ended instanceof Error ? shown(ended) : JSON.stringify(ended);
          insist(!holdsSecret(text, secrets), `an error of ${verb} (${describe(action)}) shows a secret`);
        }
    },
  },
  {
    name: 'logs-nothing',
    about: 'no verb writes to the console, in good days and in bad',
    why: 'the log is for machines, one JSON line each, and what a provider prints there is masked by nobody',
    run: async (lab) => {
      const logged = await logsDuring(async () => {
        for (const [verb, work] of [...verbs(lab), ...checks(lab)]) {
          await work();
          lab.fake.fault({ match: '.', times: 1, action: { kind: 'status', status: 500, body: { message: 'x' } } });
          await thrownBy(work());
          insist(verb !== undefined, 'there is no verb');
        }
      });
      insist(logged.length === 0, `the console was told: ${brief(logged[0])}`);
    },
  },
];

/** CRMs repeat a bad token in their answer, so the whole of it must be masked. */
function echoing(action: FaultAction, secrets: Subject['secrets']): FaultAction {
  if (action.kind !== 'status') return action;
  const { body } = action;
  const isOpen = typeof body === 'object' && body !== null && !Array.isArray(body);
  return isOpen ? { ...action, body: { ...body, token: secrets.join(' ') } } : action;
}

const describe = (action: FaultAction): string => (action.kind === 'status' ? `status ${action.status}` : action.kind);
