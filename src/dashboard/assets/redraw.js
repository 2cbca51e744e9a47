/** Draws again what depends on a form while somebody fills it in: the server draws, this page puts the parts in place. */

const form = document.querySelector('form[data-redraw]');

/** Whoever types changes a field many times. */
const PAUSE_MS = 400;

/** @type {AbortController | undefined} */
let drawing;

const draw = async (/** @type {HTMLFormElement} */ given) => {
  drawing?.abort();
  const now = new AbortController();
  drawing = now;
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(given)) if (typeof value === 'string') body.append(name, value);
  body.set('do', 'draw');
  const headers = { accept: 'text/html', 'x-cvrsync-refresh': '1' };
  try {
    const response = await fetch(given.action, { method: 'POST', body, headers, signal: now.signal });
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    for (const part of document.querySelectorAll('[data-drawn]')) {
      const fresh = page.getElementById(part.id);
      if (fresh !== null && !part.contains(document.activeElement)) part.replaceWith(document.adoptNode(fresh));
    }
  } catch {
    // The buttons draw it, too.
  }
};

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
if (form instanceof HTMLFormElement)
  form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => void draw(form), PAUSE_MS);
  });
