/** The keys behind `g` that lead to a page, where scripts run: letters of its name, as far as they are free. */
import type { VNode } from 'preact';
import { html } from './html.ts';
import type { Reader } from './reader.ts';

const KEYS: Readonly<Record<string, string>> = {
  '/': 'o',
  '/inbox': 'r',
  '/companies': 'c',
  '/backfill': 'b',
  '/writes': 'w',
  '/connections': 'n',
  '/deliveries': 'd',
  '/monitors': 't',
  '/register': 'e',
  '/runs': 'u',
  '/audit': 'a',
  '/settings': 's',
  '/installation': 'i',
};

export const navigationKey = (path: string): string | undefined => KEYS[path];

/** Says what the keys do, where the script that has them shows it. */
export const keyHelp = (reader: Reader): VNode => html`<p class="quiet" hidden data-keys>${reader.text('page.go')}</p>`;
