/** The program's log: JSON lines on stderr, each with what belongs to it alone. */
import { describe, expect, it } from 'vitest';
import { createContext, maskedSink } from '../../../src/commands/cli/context.ts';

/** The program's logger, and the lines it has written. */
async function logged() {
  const lines: string[] = [];
  const sink = maskedSink({ write: (line: string) => lines.push(line) });
  const world = { stdout: sink, stderr: sink, env: {}, signal: new AbortController().signal };
  const { log } = await createContext(world, { json: false, logLevel: 'info' });
  return { log, lines };
}

describe('the log', () => {
  it('tells the causes of an error, and none that says the same again', async () => {
    const { log, lines } = await logged();
    const cause = new Error('connect ECONNREFUSED');
    log.warn({ err: new Error('cannot read the register', { cause }) }, 'told');
    log.warn({ err: new Error(cause.message, { cause }) }, 'told');
    expect(lines.map((line) => JSON.parse(line).err)).toMatchObject([
      { type: 'Error', message: 'cannot read the register: connect ECONNREFUSED', stack: expect.any(String) },
      { type: 'Error', message: 'connect ECONNREFUSED' },
    ]);
  });

  it('writes into each line its own fields, and none of a line before', async () => {
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
