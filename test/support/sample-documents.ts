/** Sample documents of the register without the companies that they are of. */
import { sampleSeries } from '../../src/commands/emulate/sample/stream.ts';

/** The documents of {@link sampleSeries}. */
export function* sampleDocuments(...series: Parameters<typeof sampleSeries>): Generator<unknown, void, void> {
  for (const { document } of sampleSeries(...series)) yield document;
}
