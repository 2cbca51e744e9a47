/** The program's log: JSON lines on stderr, each with what belongs to it alone. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createContext, maskedSink } from '../../../src/commands/cli/context.ts';
import { StoreError } from '../../../src/store/store-error.ts';

/** The program's logger, and the lines it has written. */
async function logged() {
  const lines: string[] = [];
  const sink = maskedSink({ write: (line: string) => lines.push(line) });
  const world = { stdout: sink, stderr: sink, env: {}, signal: new AbortController().signal };
  const { log } = await createContext({ ...world, completions: async () => [] }, { json: false, logLevel: 'info' });
  return { log, lines };
}

describe('the log', () => {
  it('includes the causes of an error without repetitions', async () => {
    const { log, lines } = await logged();
    const cause = new Error('connect ECONNREFUSED');
    log.warn({ err: new Error('cannot read the register', { cause }) }, 'told');
    log.warn({ err: new Error(cause.message, { cause }) }, 'told');
    expect(lines.map((line) => JSON.parse(line).err)).toMatchObject([
      { type: 'Error', message: 'cannot read the register: connect ECONNREFUSED', stack: expect.any(String) },
      { type: 'Error', message: 'connect ECONNREFUSED' },
    ]);
  });

  it('writes only the fields of each line', async () => {
    const { log, lines } = await logged();
    log.warn({ err: new Error('broken'), from: '203.0.113.7' }, 'refused');
    log.child({ half: 'service' }).info({ port: 8080 }, 'listening');
    log.info('stopping');
    expect(lines.map((line) => Object.keys(JSON.parse(line)))).toEqual([
      ['level', 'time', 'err', 'from', 'msg'],
      ['level', 'time', 'half', 'port', 'msg'],
      ['level', 'time', 'msg'],
    ]);
  });
});

describe('an error that repeats', () => {
  afterEach(() => void vi.useRealTimers());

  async function scene() {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const { log, lines } = await logged();
    /** The lines since it was asked last. */
    const read = () => lines.splice(0).map((line) => JSON.parse(line));
    return { log, read, minute: () => void vi.advanceTimersByTime(60_000) };
  }

  it('is logged once a minute with its count; all failures of the store count as one, without a stack', async () => {
    const { log, read, minute } = await scene();
    const away = new StoreError('at db/cvrsync cannot be reached', new Error('connect ECONNREFUSED 10.0.0.7:5432'));
    for (let at = 0; at < 377; at += 1) {
      log.error({ err: away, queue: `queue ${at}` }, 'could not look for work: trying again');
      log.warn({ err: new Error('cannot count', { cause: away }) }, 'could not poll the CRM: trying again later');
    }
    const shown = { type: 'StoreError', message: expect.stringMatching(/^the store at .*ECONNREFUSED/) };
    expect(read()).toMatchObject([{ err: shown, queue: 'queue 0' }]);
    minute();
    const [line, ...more] = read();
    expect([line, more]).toMatchObject([{ level: 'warn', repeated: 753, msg: expect.stringContaining('poll') }, []]);
    expect(line.err).not.toHaveProperty('stack');
    log.error({ err: away }, 'could not look for work: trying again');
    minute();
    expect(read()).toMatchObject([{ repeated: 1 }]);
    minute();
    expect(read()).toEqual([]);
    log.error({ err: away }, 'could not look for work: trying again');
    expect(read()).toMatchObject([{ msg: 'could not look for work: trying again' }]);
  });

  it('is distinguished by its text without numbers', async () => {
    const { log, read } = await scene();
    for (const text of ['database is locked', 'deadlock with process 17', 'deadlock with process 18'])
      log.error({ err: new Error(text) }, 'a run failed');
    log.error({ err: new Error('database is locked') }, 'could not renew leases: trying again');
    expect(read().map(({ msg, err }) => `${msg}: ${err.message}`)).toEqual([
      'a run failed: database is locked',
      'a run failed: deadlock with process 17',
      'could not renew leases: trying again: database is locked',
    ]);
  });

  it('is logged each time if it ends the program, like a line without an error', async () => {
    const { log, read } = await scene();
    for (let at = 0; at < 3; at += 1) {
      log.fatal({ err: new Error('thrown outside of any call') }, 'stopping');
      log.warn({ from: '203.0.113.7' }, 'a sign-in failed');
    }
    expect(read().length).toBe(6);
  });
});
