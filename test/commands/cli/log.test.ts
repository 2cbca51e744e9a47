/** The program's log: JSON lines on stderr, each with what belongs to it alone. */
import { describe, expect, it } from 'vitest';
import { createContext, maskedSink } from '../../../src/commands/cli/context.ts';

describe('the log', () => {
  it('writes into each line its own fields, and none of a line before', async () => {
    const lines: string[] = [];
    const sink = maskedSink({ write: (line: string) => lines.push(line) });
    const { signal } = new AbortController();
    const world = { stdout: sink, stderr: sink, env: {}, signal };
    const { log } = await createContext(world, { json: false, logLevel: 'info' });
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
