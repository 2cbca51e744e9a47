/** Brings the parts of a page that are marked `data-live` up to date, and says so when it cannot. */

const locale = document.documentElement.lang;

/** Between two refreshes, and how long one may take: a page that is out of date says so within the sum of both. */
const REFRESH_MS = 10_000;
const TIMEOUT_MS = 6_000;
/** What somebody waits for. */
const SOON_MS = 1_500;
const TICK_MS = 1_000;

/** @type {readonly (readonly [Intl.RelativeTimeFormatUnit, number])[]} */
const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
];

const distances = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
const inWords = (/** @type {number} */ ms) => {
  const [unit, length] = UNITS.find(([, each]) => Math.abs(ms) >= each) ?? ['second', 1_000];
  return distances.format(Math.trunc(ms / length), unit);
};

const serverTimeOf = (/** @type {Document} */ from) =>
  Number(from.querySelector('[data-now]')?.getAttribute('data-now') ?? Date.now());
/** The clock of the server counts, for it gave the times. */
let clockAhead = serverTimeOf(document) - Date.now();

const ageTimes = () => {
  for (const time of document.querySelectorAll('time[data-form="distance"]')) {
    const words = inWords(Date.parse(time.getAttribute('datetime') ?? '') - Date.now() - clockAhead);
    if (time.textContent !== words) time.textContent = words;
  }
};

/** Says why the figures are old: `silent` if none came, `ended` if the session is over. */
const markStale = (/** @type {'silent' | 'ended' | undefined} */ why) => {
  for (const part of document.querySelectorAll('[data-live]')) part.classList.toggle('stale', why !== undefined);
  const notice = document.getElementById('stale');
  if (notice === null) return;
  for (const words of notice.querySelectorAll('[data-stale]'))
    words.toggleAttribute('hidden', words.getAttribute('data-stale') !== why);
  notice.hidden = why === undefined;
};

const FIELDS = 'input, select, textarea';
const FOCUSABLE = `a, button, summary, [tabindex], ${FIELDS}`;

/** What tells a place for the focus from others. */
const nameOf = (/** @type {Element} */ place) =>
  [place.tagName, place.id, place.getAttribute('href') ?? place.getAttribute('aria-label') ?? place.textContent].join(
    ' ',
  );

/** Puts a part in the place of an older one; what had the focus has it again. A part whose form or chart is in use stays. */
const replacePart = (/** @type {Element} */ part, /** @type {Element} */ fresh) => {
  const { activeElement } = document;
  const hasFocus = activeElement !== null && part.contains(activeElement);
  if ((hasFocus && activeElement.matches(FIELDS)) || part.hasAttribute('data-busy')) return;
  const placed = document.adoptNode(fresh);
  // What somebody unfolded stays so.
  const unfolded = new Set([...part.querySelectorAll('details[open] > summary')].map(nameOf));
  for (const summary of placed.querySelectorAll('details > summary'))
    if (unfolded.has(nameOf(summary))) summary.parentElement?.setAttribute('open', '');
  part.replaceWith(placed);
  if (!hasFocus) return;
  const again = [...placed.querySelectorAll(FOCUSABLE)].find((each) => nameOf(each) === nameOf(activeElement));
  if (again instanceof HTMLElement) again.focus({ preventScroll: true });
};

/** The page as it is now, or why it cannot be had. */
const readPage = async () => {
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(), TIMEOUT_MS);
  try {
    const headers = { accept: 'text/html', 'x-cvrsync-refresh': '1' };
    const response = await fetch(location.href, { headers, signal: end.signal });
    if (response.redirected) return 'ended';
    return response.ok ? new DOMParser().parseFromString(await response.text(), 'text/html') : 'silent';
  } catch {
    return 'silent';
  } finally {
    clearTimeout(timer);
  }
};

let isReading = false;
const refresh = async () => {
  const parts = [...document.querySelectorAll('[data-live]')];
  if (document.hidden || isReading || parts.length === 0) return;
  isReading = true;
  const page = await readPage();
  isReading = false;
  if (typeof page === 'string') {
    markStale(page);
    return;
  }
  clockAhead = serverTimeOf(page) - Date.now();
  markStale(undefined);
  for (const part of parts) {
    const fresh = page.getElementById(part.id);
    if (fresh !== null) replacePart(part, fresh);
  }
  ageTimes();
};

ageTimes();
setInterval(ageTimes, TICK_MS);
if (document.querySelector('[data-live]') !== null) {
  setInterval(refresh, document.querySelector('[data-live="soon"]') === null ? REFRESH_MS : SOON_MS);
  document.addEventListener('visibilitychange', () => {
    ageTimes();
    void refresh();
  });
}
