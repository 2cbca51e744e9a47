/** The toy provider, as one that never answers, then loops for ever, and leaves a timer behind. */
import { toyProvider, toySubject } from '../toy.ts';

export const subject = toySubject(
  toyProvider({
    connection: (sound) => {
      setInterval(() => {}, 1_000);
      return {
        check: () => new Promise(() => {}),
        properties: sound.properties,
        update: async (patches, signal) => {
          if (patches.length === 0) return [];
          // Never returns to its events, as a loop that computes, but leaves the processor to other tests.
          const never = new Int32Array(new SharedArrayBuffer(4));
          while (Atomics.wait(never, 0, 0, 50) !== 'ok');
          return sound.update(patches, signal);
        },
      };
    },
  }),
);
