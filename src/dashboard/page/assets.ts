/** The files that pages load: a stylesheet, the scripts, an icon. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { digestOf } from '../../runtime/operators/operators.ts';

/** In the build next to the dashboard's chunk: rolldown.config.ts copies the files there. */
export const ASSETS_FOLDER = path.join(import.meta.dirname, import.meta.url.endsWith('.ts') ? '../assets' : 'assets');

const ASSETS = ['style.css', 'dashboard.js', 'live.js', 'redraw.js', 'inbox.js', 'charts.js', 'icon.svg'] as const;

const urls: ReadonlyMap<string, string> = new Map(
  ASSETS.map((name) => {
    const digest = digestOf(readFileSync(path.join(ASSETS_FOLDER, name), 'utf8'));
    return [name, `/assets/${name}?v=${digest.slice(0, 10)}`];
  }),
);

/** The address of a file. It changes with the content, so that browsers may keep the file forever. */
export const assetUrl = (name: (typeof ASSETS)[number]): string => urls.get(name) ?? '';
