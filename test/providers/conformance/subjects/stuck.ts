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
          for (let at = 0; ; at += 1) if (at < 0) return sound.update(patches, signal);
        },
      };
    },
  }),
);
