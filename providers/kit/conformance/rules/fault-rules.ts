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
  why: 'nobody knows what was written: only a later read shows it, and the runtime would believe an invented answer',
  run: (lab) => isUnavailable(lab, what, action),
});

export const FAULT_RULES: readonly ConformanceRule[] = [
  {
    name: 'status-401',
    about: 'refused credentials are `auth`, whichever verb meets them',
    why: 'cvrsync then pauses the account and notifies a person; with another fault thousands of records would fail one by one',
    run: (lab) => everywhere(lab, lab.subject.answers?.unauthorized ?? UNAUTHORIZED, ['auth'], 'a 401'),
  },
  {
    name: 'status-403',
    about: 'a lack of rights is `refused`, or `auth`',
    why: 'only a person can repair it: retries waste calls',
    run: (lab) => everywhere(lab, lab.subject.answers?.forbidden ?? FORBIDDEN, ['refused', 'auth'], 'a 403'),
  },
  {
    name: 'status-429',
    about: 'too many calls is rate, with a default wait if the CRM names none',
    why: 'retries without a wait keep the account locked out',
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
    about: 'the wait after too many calls is that of Retry-After, in seconds or as an HTTP date',
    why: 'an early retry prolongs the lock-out, and a late one delays changes',
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
    why: 'the runtime retries the records with back-off; as refused they would wait for a person',
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
    why: 'an empty success proves no write: the change would be lost without a trace',
  },
  {
    ...unanswered('success-without-results', 'a 200 without results', { kind: 'status', status: 200, body: {} }),
    needs: ['answers'],
    why: 'a record that the answer does not mention was not written',
  },
  unanswered('cut-body', 'an answer cut off', { kind: 'cut' }),
  unanswered('reset', 'a connection reset', { kind: 'reset' }),
  unanswered('hang', 'no answer within the deadline', { kind: 'hang' }),
  {
    name: 'lost-answer',
    about: 'a write whose answer was lost is unavailable, and the same write can be made again',
    why: 'it happens at every restart of a CRM: the runtime reads the records, and repeats missing writes',
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
          insistSame(lab.held(id), values[lab.text], 'the value in the CRM');
        }
        if (lab.subject.lacks?.scan === undefined)
          insistSame((await lab.scan()).length, lab.ids.length, `records after a ${kind}`);
      }
    },
  },
  {
    name: 'abort',
    about: 'an aborted verb stops at once with the reason of its signal, and makes no further call',
    why: 'the daemon has seconds to stop, and nothing handles the outcome of a later write',
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
      const ended = await Promise.race([thrown, sleep(STOP_MS, 'nothing: it continues')]);
      insist(ended === reason, `an aborted ${verb} ended with ${brief(ended)}, not with the signal's reason`);
      const before = lab.ids.map((id) => lab.held(id));
      const late = await thrownBy(lab.write(lab.ids, { [lab.text]: 'too late' }, stop.signal));
      insist(late === reason, `an update after the abort ended with ${brief(late)}, not with the signal's reason`);
      insistSame(
        lab.ids.map((id) => lab.held(id)),
        before,
        'the value in the CRM after an update that was aborted before it began',
      );
    },
  },
  {
    name: 'no-secret-shown',
    about: 'no error contains a secret, in its message, its cause or any other field',
    why: 'errors are stored, logged and mailed, and read by people without access to the CRM',
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
    about: 'no verb writes to the console, even after a fault',
    why: 'the log has one JSON object per line, and nothing masks the output of a provider',
    run: async (lab) => {
      const logged = await logsDuring(async () => {
        for (const [verb, work] of [...verbs(lab), ...checks(lab)]) {
          await work();
          lab.fake.fault({ match: '.', times: 1, action: { kind: 'status', status: 500, body: { message: 'x' } } });
          await thrownBy(work());
          insist(verb !== undefined, 'there is no verb');
        }
      });
      insist(logged.length === 0, `a verb wrote to the console: ${brief(logged[0])}`);
    },
  },
];

/** CRMs repeat a bad token in their answer, so the provider must mask all of it. */
function echoing(action: FaultAction, secrets: Subject['secrets']): FaultAction {
  if (action.kind !== 'status') return action;
  const { body } = action;
  const isOpen = typeof body === 'object' && body !== null && !Array.isArray(body);
  return isOpen ? { ...action, body: { ...body, token: secrets.join(' ') } } : action;
}

const describe = (action: FaultAction): string => (action.kind === 'status' ? `status ${action.status}` : action.kind);
