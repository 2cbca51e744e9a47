/** A real Chromium for tests of pages. What a page reports or violates fails the test. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import chromium from '@sparticuz/chromium';
import { type Browser, type BrowserContext, type Page, chromium as playwright } from 'playwright-core';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import { ALL } from '../support/all.ts';

/** How somebody looks at pages. */
export interface Look {
  /** Whether scripts run; they do where absent. */
  readonly script?: boolean;
  readonly theme?: 'light' | 'dark';
  /** In CSS pixels; 1280 where absent. */
  readonly width?: number;
  readonly language?: string;
  /** Where the reader is; Copenhagen where absent. */
  readonly timezone?: string;
  /** Whether the rules of accessibility are tried; they are where absent. */
  readonly isAudited?: boolean;
}

const ALL_LOOKS: readonly Look[] = [
  { theme: 'dark', width: 390, language: 'da-DK' },
  { theme: 'light', width: 1280 },
  { theme: 'light', width: 1280, script: false },
];

/** How a state of a page is looked at to which `matrix.test.ts` does not come: in one way in the suite, by night in all. */
export const LOOKS: readonly Look[] = ALL ? ALL_LOOKS : ALL_LOOKS.slice(0, 1);

export interface Tab {
  readonly page: Page;
  /** What the page reported, how much it is wider than its window, and which rules of accessibility it breaks. */
  findFaults(): Promise<readonly string[]>;
  /** Fails if there are any. */
  expectSound(): Promise<void>;
}

/** Each page that is audited gets it: what the package exports is more than twice as long. */
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const ARGS = ['--no-sandbox', '--no-zygote', '--disable-gpu', '--font-render-hinting=none'];
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** Collected of violations only: of all that is sound it would take as long again. */
const OPTIONS = JSON.stringify({ runOnly: RULES, resultTypes: ['violations'] });

/** By how much the page at hand is wider than its window, in px. */
export const WIDER = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

interface AxeRun {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}

/** Signs in, and waits for the overview. */
export async function signIn(page: Page, base: string, token: string): Promise<void> {
  await page.goto(`${base}/login`);
  await page.fill('#token', token);
  await page.click('button.primary');
  await page.waitForURL(`${base}/`);
}

/** Where the browser is: `CVRSYNC_TEST_BROWSER`, where its package has none for this machine. The package unpacks it into the run's folder for temporary files, which only one worker may do. */
async function unpacked(): Promise<string> {
  const named = process.env['CVRSYNC_TEST_BROWSER'];
  if (named !== undefined) return named;
  const folder = path.join(inject('templates'), 'chromium');
  const done = path.join(folder, 'path');
  try {
    mkdirSync(folder);
  } catch {
    while (!existsSync(done)) await sleep(100);
    return readFileSync(done, 'utf8');
  }
  const executable = await chromium.executablePath();
  writeFileSync(`${done}.part`, executable);
  renameSync(`${done}.part`, done);
  return executable;
}

/** Starts one browser for the tests of a file; `open` gives a tab with cookies of its own. */
export function useBrowser(): { open(look?: Look): Promise<Tab> } {
  let browser: Browser | undefined;
  const contexts: BrowserContext[] = [];
  beforeAll(async () => {
    browser = await playwright.launch({ executablePath: await unpacked(), args: ARGS });
  });
  afterAll(async () => {
    await Promise.all(contexts.map((context) => context.close()));
    await browser?.close();
  });
  return {
    async open({
      script = true,
      theme = 'light',
      width = 1280,
      language = 'en-GB',
      timezone = 'Europe/Copenhagen',
      isAudited = true,
    } = {}) {
      if (browser === undefined) throw new Error('the browser did not start');
      const context = await browser.newContext({
        javaScriptEnabled: script,
        colorScheme: theme,
        viewport: { width, height: 900 },
        locale: language,
        timezoneId: timezone,
      });
      contexts.push(context);
      const page = await context.newPage();
      const reports: string[] = [];
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) reports.push(message.text());
      });
      page.on('pageerror', (error) => reports.push(String(error)));
      page.on('requestfailed', (request) => {
        const reason = request.failure()?.errorText;
        // Leaving a page aborts the refresh under way, and so does a refresh that takes too long, also at the log-in to
        // which it was redirected.
        const first = request.redirectedFrom() ?? request;
        const isLeft = reason === 'net::ERR_ABORTED' && 'x-cvrsync-refresh' in first.headers();
        if (!isLeft) reports.push(`${request.url()} ${reason}`);
      });
      async function findFaults(): Promise<readonly string[]> {
        // A click may have begun a page that has no content yet.
        await page.waitForLoadState();
        const faults = reports.splice(0);
        if (!script) return faults;
        const wide = Number(await page.evaluate(WIDER));
        if (wide > 0) faults.push(`${wide} px wider than its window`);
        if (!isAudited) return faults;
        await page.evaluate(axe);
        const { violations } = await page.evaluate<AxeRun>(`axe.run(${OPTIONS})`);
        return [...faults, ...violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)];
      }
      return {
        page,
        findFaults,
        async expectSound() {
          expect(await findFaults(), `${page.url()} at ${width} px`).toEqual([]);
        },
      };
    },
  };
}
