/** Who placed a hold or a release, and by which command or page. */
import type { Override } from '../../connector/overrides/override.ts';
import type { Reader } from '../page/reader.ts';

export const placedText = (
  reader: Reader,
  { origin = 'person', placedBy, placedVia }: Pick<Override, 'origin' | 'placedBy' | 'placedVia'>,
): string =>
  [reader.text(`origin.${origin}`), placedBy, placedVia && reader.text(`via.${placedVia}`)]
    .filter((part) => part != null)
    .join(', ');
