/** The list of the inbox: letters that step, choose and answer inside it, and the entry beside it. Forms do the same without. */

const list = document.querySelector('[data-entries]');
const areKeysOff = () => {
  try {
    return localStorage.getItem('cvrsync-keys-off') !== null;
  } catch {
    return false;
  }
};

/** A single key answers once, and only an entry that somebody has had on screen for so long. */
const SEEN_MS = 500;
/** @type {number | undefined} Since when the entry is on screen and waits for its answer; in ms as events count them. */
let seenSince;
const beginSeeing = () => {
  seenSince = undefined;
  // Frames are drawn only while the page is visible; the second begins when the first is on screen.
  requestAnimationFrame(() => {
    requestAnimationFrame(() => {
      seenSince = performance.now();
    });
  });
};

const rows = () => [...(list?.querySelectorAll('li') ?? [])];
const boxOf = (/** @type {Element | undefined} */ row) => {
  const box = row?.querySelector('input');
  return box instanceof HTMLInputElement ? box : undefined;
};

/** Says how many are chosen. */
const countChosen = () => {
  const place = document.querySelector('[data-chosen]');
  if (place !== null) place.textContent = String(rows().filter((row) => boxOf(row)?.checked).length || '');
};

/** How many entries were asked for: an answer of the server to an earlier one is dropped. */
let asked = 0;

/** Shows an entry beside the list. */
const show = async (/** @type {HTMLAnchorElement} */ link) => {
  asked += 1;
  const mine = asked;
  seenSince = undefined;
  try {
    const headers = { accept: 'text/html', 'x-cvrsync-refresh': '1' };
    const response = await fetch(link.href, { headers });
    if (mine !== asked) return;
    const text = await response.text();
    const fresh = new DOMParser().parseFromString(text, 'text/html').getElementById('entry');
    if (response.redirected || fresh === null) throw new Error('there is no entry');
    document.getElementById('entry')?.replaceWith(document.adoptNode(fresh));
    for (const other of list?.querySelectorAll('a[aria-current]') ?? []) other.removeAttribute('aria-current');
    link.setAttribute('aria-current', 'true');
    history.replaceState(null, '', link.href);
    beginSeeing();
  } catch {
    location.href = link.href;
  }
};

/** The row of the focus; undefined if that is elsewhere. */
const rowIn = () => rows().find((row) => row.contains(document.activeElement));

const STEPS = { j: 1, k: -1 };
/** Goes to the next entry or the one before; with Shift both are chosen. */
const step = (/** @type {HTMLLIElement} */ row, /** @type {KeyboardEvent} */ { key, shiftKey }) => {
  const by = Object.entries(STEPS).find(([name]) => name === key.toLowerCase())?.[1];
  if (by === undefined) return false;
  const all = rows();
  const next = all[all.indexOf(row) + by];
  const link = next?.querySelector('a');
  if (!(link instanceof HTMLAnchorElement)) return true;
  if (shiftKey) for (const box of [boxOf(row), boxOf(next)]) if (box !== undefined) box.checked = true;
  countChosen();
  link.focus();
  void show(link);
  return true;
};

/** Presses the button of the entry that names the key. */
const press = (/** @type {KeyboardEvent} */ event) => {
  if (event.repeat || seenSince === undefined || event.timeStamp - seenSince < SEEN_MS) return;
  const named = document.querySelector(`#entry [data-key="${CSS.escape(event.key)}"]`);
  if (!(named instanceof HTMLElement)) return;
  seenSince = undefined;
  named.click();
};

/** Chooses an entry, chooses the page, and goes to the answers to what is chosen. */
const ACTS = new Map([
  [
    'x',
    (/** @type {HTMLLIElement} */ row) => {
      const box = boxOf(row);
      if (box !== undefined) box.checked = !box.checked;
      countChosen();
    },
  ],
  [
    'p',
    () => {
      const boxes = rows().flatMap((each) => boxOf(each) ?? []);
      const isAll = boxes.every(({ checked }) => checked);
      for (const box of boxes) box.checked = !isAll;
      countChosen();
    },
  ],
  [
    'b',
    () => {
      const button = document.querySelector('.bar button');
      if (button instanceof HTMLElement) button.focus();
    },
  ],
]);

const onKey = (/** @type {KeyboardEvent} */ event) => {
  const row = rowIn();
  if (row === undefined || areKeysOff() || event.ctrlKey || event.metaKey || event.altKey) return;
  if (step(row, event)) return;
  const act = ACTS.get(event.key);
  if (act === undefined) press(event);
  else act(row);
};

/** @type {HTMLInputElement | undefined} The box that was clicked last. */
let last;
/** A click with Shift chooses the span since the last one. */
const chooseSpan = (/** @type {MouseEvent} */ { target, shiftKey }) => {
  if (!(target instanceof HTMLInputElement)) return;
  const boxes = rows().flatMap((row) => boxOf(row) ?? []);
  if (shiftKey && last !== undefined) {
    const [from = 0, to = 0] = [boxes.indexOf(last), boxes.indexOf(target)].toSorted((a, b) => a - b);
    for (const box of boxes.slice(from, to + 1)) box.checked = target.checked;
  }
  last = target;
  countChosen();
};

if (list instanceof HTMLElement) {
  document.addEventListener('keydown', onKey);
  list.addEventListener('click', chooseSpan);
  addEventListener('pageshow', beginSeeing);
  document.addEventListener('visibilitychange', beginSeeing);
  countChosen();
}
