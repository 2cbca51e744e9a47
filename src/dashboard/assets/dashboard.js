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

/** A key by itself, that is no part of a text that somebody types. */
const isAlone = (/** @type {KeyboardEvent} */ { target, ctrlKey, metaKey, altKey }) =>
  !(ctrlKey || metaKey || altKey) &&
  !(target instanceof Element && target.matches('input:not([type="checkbox"]), textarea, select'));

/** `/` goes to the search field, as in many tools. */
const focusSearch = (/** @type {KeyboardEvent} */ event) => {
  const search = document.querySelector('input[type="search"]');
  if (event.key !== '/' || !isAlone(event) || !(search instanceof HTMLElement)) return;
  event.preventDefault();
  search.focus();
};

/** `j` goes to the next entry of a list that can be chosen, `k` to the one before. */
const STEPS = { j: 1, k: -1 };
const stepChoices = (/** @type {KeyboardEvent} */ event) => {
  const step = Object.entries(STEPS).find(([key]) => key === event.key)?.[1];
  const { activeElement } = document;
  if (step === undefined || activeElement === null || !isAlone(event)) return;
  const boxes = [...document.querySelectorAll('td input[type="checkbox"]')];
  const next = boxes[boxes.indexOf(activeElement) + step];
  if (next instanceof HTMLElement) next.focus();
};

/** A single key presses the button or follows the link that names it. */
const pressByKey = (/** @type {KeyboardEvent} */ event) => {
  if (!isAlone(event) || event.repeat) return;
  const named = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (named instanceof HTMLElement) named.click();
};

/** A form is sent once: a second click would have the browser drop the first answer, which may show a secret. */
const sent = new WeakSet();
const sendOnce = (/** @type {SubmitEvent} */ event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || form.method !== 'post') return;
  if (event.submitter?.getAttribute('formmethod') === 'dialog') return;
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
document.addEventListener('keydown', stepChoices);
document.addEventListener('keydown', pressByKey);
if (document.querySelector('[data-live]') !== null) {
  const every = document.querySelector('[data-live="soon"]') === null ? REFRESH_MS : SOON_MS;
  setInterval(() => void refresh().catch(() => {}), every);
}
