/**
 * Loaded before the daemon by `node --import`: JSON.parse, called by connector/facts/apply.ts itself, ends the process on
 * one word in an event and takes long over another. No real text does so any more, as far as is known.
 */
import process from 'node:process';

const parse = JSON.parse;
JSON.parse = (text, reviver) => {
  if (typeof text === 'string' && /Gift|Sirup/u.test(text)) {
    const caller = new Error('where').stack?.split('\n')[2] ?? '';
    if (/connector\/facts\/apply/u.test(caller)) {
      if (text.includes('Gift')) process.kill(process.pid, 'SIGKILL');
      for (const start = process.cpuUsage(); text.includes('Gift') || process.cpuUsage(start).user < 2_100_000; );
    }
  }
  return parse(text, reviver);
};
