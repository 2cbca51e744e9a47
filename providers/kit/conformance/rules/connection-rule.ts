/** The rule about opening a connection, which all others need. */
import type { ConformanceRule } from '../lab/rule.ts';

export const CONNECTION_RULE: ConformanceRule = {
  name: 'whole-connection',
  about: 'connect gives a connection with its five verbs, and each ability as functions or not at all',
  why: 'the runtime refuses such a connection as it opens; without that a verb that is missing shows only when it is needed',
  // A lab opens only with such a connection.
  run: async () => {},
};
