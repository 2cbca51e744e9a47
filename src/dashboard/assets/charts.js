/** A span that is dragged over a chart opens its writes. The form below the charts does the same without. */

const MOVED_PX = 4;

/** The bar under the pointer, of a chart. */
const barAt = (/** @type {Element} */ chart, /** @type {number} */ x) => {
  const { left, width } = chart.getBoundingClientRect();
  const bars = Number(chart.getAttribute('data-bars'));
  return Math.max(0, Math.min(bars - 1, Math.floor(((x - left) / width) * bars)));
};

const spanForm = () => document.querySelector('form[data-spans]');

/** @type {{ readonly chart: Element; readonly x: number; isSpan: boolean } | undefined} */
let drag;

/** Draws the span over its chart; each bar is ten wide. */
const drawSpan = (/** @type {Element} */ chart, /** @type {number} */ from, /** @type {number} */ to) => {
  const shown =
    chart.querySelector('.span') ?? chart.appendChild(document.createElementNS('http://www.w3.org/2000/svg', 'rect'));
  const [first, last] = [Math.min(from, to), Math.max(from, to)];
  for (const [name, value] of Object.entries({
    class: 'span',
    x: first * 10,
    y: 0,
    height: 40,
    width: (last - first + 1) * 10,
  }))
    shown.setAttribute(name, String(value));
};

const begin = (/** @type {PointerEvent} */ event) => {
  const chart = event.target instanceof Element ? event.target.closest('svg[data-bars]') : null;
  if (chart === null || event.button !== 0 || spanForm() === null) return;
  // Until it is let go, no refresh takes the chart away.
  chart.closest('[data-live]')?.setAttribute('data-busy', '');
  drag = { chart, x: event.clientX, isSpan: false };
};

const move = (/** @type {PointerEvent} */ event) => {
  if (drag === undefined) return;
  if (Math.abs(event.clientX - drag.x) > MOVED_PX) drag.isSpan = true;
  if (drag.isSpan) drawSpan(drag.chart, barAt(drag.chart, drag.x), barAt(drag.chart, event.clientX));
};

const end = (/** @type {PointerEvent} */ event) => {
  if (drag === undefined) return;
  const { chart, x, isSpan } = drag;
  drag = undefined;
  chart.closest('[data-live]')?.removeAttribute('data-busy');
  const form = spanForm();
  if (!isSpan || !(form instanceof HTMLFormElement)) return;
  const bars = [barAt(chart, x), barAt(chart, event.clientX)].toSorted((a, b) => a - b);
  for (const [at, name] of ['since', 'until'].entries()) {
    const field = form.querySelector(`[data-span="${name}"]`);
    if (field instanceof HTMLSelectElement) field.selectedIndex = bars[at] ?? 0;
  }
  form.requestSubmit();
};

document.addEventListener('pointerdown', begin);
document.addEventListener('pointermove', move);
document.addEventListener('pointerup', end);
document.addEventListener('pointercancel', () => {
  drag?.chart.closest('[data-live]')?.removeAttribute('data-busy');
  drag = undefined;
});
// The bars are links, which a browser would drag away.
document.addEventListener('dragstart', (event) => {
  if (event.target instanceof Element && event.target.closest('svg[data-bars]') !== null) event.preventDefault();
});
// A refresh puts other words there, so the page is marked, and not the hint.
document.documentElement.classList.add('drags');
