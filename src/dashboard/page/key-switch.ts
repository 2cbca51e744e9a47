/** The switch of the keys that act by themselves: speech input and a stray hand press them too (WCAG 2.1.4). */
import type { VNode } from 'preact';
import { html } from './html.ts';
import type { Reader } from './reader.ts';

/** Shown by the script that has the keys; the browser keeps the choice. */
export const keySwitch = (reader: Reader): VNode =>
  html`<p hidden data-keys>
    <label class="check"><input type="checkbox" /> <span>${reader.text('page.keys')}</span></label>
  </p>`;
