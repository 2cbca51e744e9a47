/** What moves on a page. Every page works without it. */

const locale = document.documentElement.lang;

/** Times in the reader's own zone, where the server could only guess. */
const showTimes = (/** @type {ParentNode} */ root) => {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
  for (const time of root.querySelectorAll('time[data-form="time"]'))
    time.textContent = format.format(new Date(time.getAttribute('datetime') ?? ''));
};

const showZone = () => {
  const note = document.querySelector('[data-zone]');
  if (note === null) return;
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  note.textContent = (note.getAttribute('data-zone') ?? '').replace('{zone}', timeZone);
};

/** Brings the parts marked `data-live` up to date, while somebody looks and has nothing selected or focused there. */
const REFRESH_MS = 15_000;
/** What somebody waits for. */
const SOON_MS = 1_500;
const refresh = async () => {
  if (document.hidden) return;
  const parts = [...document.querySelectorAll('[data-live]')].filter((part) => !part.contains(document.activeElement));
  if (parts.length === 0) return;
  const response = await fetch(location.href, { headers: { accept: 'text/html', 'x-cvrsync-refresh': '1' } });
  if (!response.ok || response.redirected) return;
  const next = new DOMParser().parseFromString(await response.text(), 'text/html');
  for (const part of parts) {
    const fresh = next.getElementById(part.id);
    if (fresh === null) continue;
    showTimes(fresh);
    part.replaceWith(document.adoptNode(fresh));
  }
};

/** `/` goes to the search field, as in many tools. */
const focusSearch = (/** @type {KeyboardEvent} */ event) => {
  const isTyping = event.target instanceof Element && event.target.matches('input, textarea, select');
  const search = document.querySelector('input[type="search"]');
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey || search === null) return;
  event.preventDefault();
  if (search instanceof HTMLElement) search.focus();
};

/** A single key presses the button or follows the link that names it. */
const pressByKey = (/** @type {KeyboardEvent} */ event) => {
  const isTyping = event.target instanceof Element && event.target.matches('input, textarea, select');
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const named = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (named instanceof HTMLElement) named.click();
};

/** A form is sent once: a second click would have the browser drop the first answer, which may show a secret. */
const sent = new WeakSet();
const sendOnce = (/** @type {SubmitEvent} */ event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || form.method !== 'post') return;
  if (sent.has(form)) event.preventDefault();
  sent.add(form);
};
/** Whoever comes back to a page may send its forms again. */
const forgetSent = () => {
  for (const form of document.forms) sent.delete(form);
};

showTimes(document);
showZone();
document.addEventListener('submit', sendOnce);
addEventListener('pageshow', forgetSent);
document.addEventListener('keydown', focusSearch);
document.addEventListener('keydown', pressByKey);
if (document.querySelector('[data-live]') !== null) {
  const every = document.querySelector('[data-live="soon"]') === null ? REFRESH_MS : SOON_MS;
  setInterval(() => void refresh().catch(() => {}), every);
}
