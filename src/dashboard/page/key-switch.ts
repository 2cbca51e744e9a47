/** The switch for single-letter keys: speech input and stray hands press them too (WCAG 2.1.4). */
import type { VNode } from 'preact';
import { html } from './html.ts';
import type { Reader } from './reader.ts';

/** The script with the keys shows it; the browser stores the choice. */
export const keySwitch = (reader: Reader): VNode =>
  html`<p hidden data-keys>
    <label class="check"><input type="checkbox" /> <span>${reader.text('page.keys')}</span></label>
  </p>`;
