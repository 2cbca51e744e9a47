/** Keys, and forms that are sent once. Every page works without it. */

/** Where the browser keeps that single keys do nothing; in all its tabs. */
const KEYS_OFF = 'cvrsync-keys-off';
const areKeysOff = () => {
  try {
    return localStorage.getItem(KEYS_OFF) !== null;
  } catch {
    // A browser that keeps nothing.
    return false;
  }
};
const switchKeys = (/** @type {boolean} */ isOn) => {
  try {
    if (isOn) localStorage.removeItem(KEYS_OFF);
    else localStorage.setItem(KEYS_OFF, '1');
  } catch {
    // The box shows below what is so.
  }
  return !areKeysOff();
};
for (const place of document.querySelectorAll('[data-keys]')) {
  if (!(place instanceof HTMLElement)) continue;
  place.hidden = false;
  const box = place.querySelector('input');
  if (box === null) continue;
  box.checked = !areKeysOff();
  box.addEventListener('change', () => {
    box.checked = switchKeys(box.checked);
  });
}

/** A key by itself, that is no part of a text that somebody types, where such keys are on. */
const isAlone = (/** @type {KeyboardEvent} */ { target, ctrlKey, metaKey, altKey }) =>
  !areKeysOff() &&
  !(ctrlKey || metaKey || altKey) &&
  !(target instanceof Element && target.matches('input:not([type="checkbox"]), textarea, select'));

/** `/` goes to the search field, as in many tools. */
const focusSearch = (/** @type {KeyboardEvent} */ event) => {
  const search = document.querySelector('input[type="search"]');
  if (event.key !== '/' || !isAlone(event) || !(search instanceof HTMLElement)) return;
  event.preventDefault();
  search.focus();
};

/** `g` and the letter of a page lead there, with the focus where its content begins. */
const GO_MS = 3_000;
let goSince = Number.NEGATIVE_INFINITY;
const goByKeys = (/** @type {KeyboardEvent} */ event) => {
  if (!isAlone(event) || event.repeat) return;
  const isSecond = event.timeStamp - goSince < GO_MS;
  goSince = event.key === 'g' && !isSecond ? event.timeStamp : Number.NEGATIVE_INFINITY;
  if (!isSecond) return;
  // It is no answer to what is on screen, whatever it leads to.
  event.stopImmediatePropagation();
  const place = document.querySelector(`a[data-go="${CSS.escape(event.key)}"]`);
  if (place instanceof HTMLAnchorElement) location.assign(`${place.href}#content`);
};

/** `j` goes to the next entry of a list, `k` to the one before: to its box if it can be chosen, or else to its first link. */
const STEPS = { j: 1, k: -1 };
const stepChoices = (/** @type {KeyboardEvent} */ event) => {
  const step = Object.entries(STEPS).find(([key]) => key === event.key)?.[1];
  const { activeElement } = document;
  if (step === undefined || activeElement === null || !isAlone(event)) return;
  // The list of the inbox has steps of its own.
  if (activeElement.closest('[data-entries]') !== null) return;
  const boxes = [...document.querySelectorAll('td input[type="checkbox"]')];
  const rows = [...document.querySelectorAll('main tbody tr')].flatMap((row) => row.querySelector('a') ?? []);
  const places = boxes.length > 0 ? boxes : rows;
  const row = activeElement.closest('tr');
  const at = places.findIndex((place) => place === activeElement || (row !== null && place.closest('tr') === row));
  const next = places[at + step];
  if (next instanceof HTMLElement) next.focus();
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

/** The code of the set-up's link stands behind #, which no browser sends: it goes into the form, and out of the address. */
const enterCode = () => {
  const form = document.querySelector('form[data-code]');
  const field = form?.querySelector('input[name="code"]');
  const code = location.hash.slice(1);
  if (!(form instanceof HTMLFormElement) || !(field instanceof HTMLInputElement) || code === '') return;
  field.value = code;
  history.replaceState(null, '', location.pathname);
  form.requestSubmit();
};

// Whoever leaves a page before it is whole breaks off what it still loads.
if (document.readyState === 'complete') enterCode();
else addEventListener('load', enterCode);
document.addEventListener('submit', sendOnce);
addEventListener('pageshow', forgetSent);
document.addEventListener('keydown', goByKeys);
document.addEventListener('keydown', focusSearch);
document.addEventListener('keydown', stepChoices);
