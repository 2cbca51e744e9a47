/** A monitor's newest deliveries as a strip that shows whether and since when they fail. */
import type { DeliveryStatistics } from '../../service/delivery/listing/statistics.ts';
import { html, type Markup } from '../page/html.ts';
import type { Reader } from '../page/reader.ts';

const STEP = 10;
const HEIGHT = 40;
/** Successes are low and failures high, because colour must not be the only sign. */
const LOW = 14;

/** The strip with its text; nothing if there were no attempts. Equal deliveries in a row are one bar. */
export function successStrip(reader: Reader, statistics: DeliveryStatistics | undefined): Markup {
  const recent = statistics?.recent ?? [];
  if (recent.length === 0) return null;
  const starts = recent.flatMap((arrived, at) => (at === 0 || recent[at - 1] !== arrived ? [at] : []));
  const failed = recent.filter((arrived) => !arrived).length;
  return html`<figure class="chart strip">
    <figcaption>${reader.text('strip.words', { count: recent.length })} ${reader.text('strip.failed', { count: failed })}</figcaption>
    <svg viewBox=${`0 0 ${recent.length * STEP} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      ${starts.map((from, at) => {
        const until = starts[at + 1] ?? recent.length;
        const height = recent[from] === true ? LOW : HEIGHT;
        return html`<rect class=${recent[from] === true ? 'ok' : 'bad'} x=${from * STEP} y=${HEIGHT - height} width=${(until - from) * STEP} height=${height} />`;
      })}
    </svg>
  </figure>`;
}
