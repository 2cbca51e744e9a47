/**
 * Makes the pictures of the README: the demo, its invented companies, and a real Chromium. `npm run screenshots` writes them;
 * with a folder it puts every page there instead, wide and narrow, in both themes, to look at.
 */
import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import chromium from '@sparticuz/chromium';
import { type BrowserContext, type Page, chromium as playwright } from 'playwright-core';
import TEXTS from '../src/dashboard/texts/en.json' with { type: 'json' };

const ROOT = join(import.meta.dirname, '..');
const WIDE = { width: 1280, height: 860 };
const NARROW = { width: 390, height: 860 };

/** What is shown of the dashboard, by the name of its picture; undefined if a link of the page before leads there. */
const PAGES = {
  overview: '/',
  review: '/inbox',
  differences: '/inbox?kind=difference',
  'review-upload': '/inbox/upload',
  companies: '/companies?q=a',
  backfill: '/backfill',
  plan: '/backfill/hubspot',
  'plan-upload': '/backfill/hubspot/upload',
  match: '/inbox?kind=match',
  writes: '/writes',
  connections: '/connections',
  connection: '/connections/hubspot',
  deliveries: '/deliveries',
  delivery: '/deliveries/1',
  monitors: '/monitors',
  'monitor-new': '/monitors/new',
  jobs: '/jobs',
  keys: '/keys',
  register: '/register',
  audit: '/audit',
  installation: '/installation',
  sessions: '/sessions',
} as const;

const folder = process.argv[2];
const demo = spawn(process.execPath, [join(ROOT, 'src/cvrsync.js'), 'demo'], {
  cwd: ROOT,
  stdio: ['ignore', 'pipe', 'inherit'],
});
const browser = await playwright.launch({
  executablePath: process.env['CVRSYNC_TEST_BROWSER'] ?? (await chromium.executablePath()),
  args: ['--no-sandbox', '--no-zygote', '--disable-gpu', '--font-render-hinting=none'],
});
try {
  const context = await browser.newContext({
    viewport: WIDE,
    locale: 'en-GB',
    timezoneId: 'Europe/Copenhagen',
  });
  const page = await context.newPage();
  await page.goto(await signInLink());
  await page.waitForSelector('.account');
  const company = await companyOf(page);
  const docs = join(ROOT, 'docs/images');
  await mkdir(folder ?? docs, { recursive: true });
  if (folder === undefined) {
    await picture(page, new URL('/', page.url()).href, join(docs, 'overview.png'), false);
    await picture(page, company, join(docs, 'company.png'), false);
  } else await everyPage(context, company, folder);
} finally {
  await browser.close();
  demo.kill('SIGINT');
}

/** Where the demo says that one is signed in. */
async function signInLink(): Promise<string> {
  for await (const line of createInterface({ input: demo.stdout })) {
    const [link] = /http:\/\/\S+\/login\/\S+/.exec(line) ?? [];
    if (link !== undefined) {
      demo.stdout.resume();
      return link;
    }
  }
  throw new Error('the demo ended before it named the dashboard');
}

/** The page of the company of the newest write. */
async function companyOf(page: Page): Promise<string> {
  await page.goto(new URL('/writes', page.url()).href);
  const link = await page.getAttribute('td a[href^="/companies/"]', 'href');
  return new URL(link ?? '/companies', page.url()).href;
}

async function picture(page: Page, url: string, file: string, fullPage: boolean): Promise<void> {
  await page.goto(url);
  await page.waitForSelector('h1');
  await page.screenshot({ path: file, fullPage });
}

async function everyPage(context: BrowserContext, company: string, into: string): Promise<void> {
  for (const [width, viewport] of Object.entries({ wide: WIDE, narrow: NARROW })) {
    const page = await context.newPage();
    await page.setViewportSize(viewport);
    await page.goto(new URL('/backfill/hubspot', company).href);
    const scan = page.locator('main form[action$="/scan"] button');
    if ((await scan.count()) > 0) {
      await scan.click();
      await page.getByText(TEXTS['backfill.toPlan']).click({ timeout: 60_000 });
    }
    await page.goto(company);
    const hold = (await page.getAttribute('a[href*="/hold?"]', 'href')) ?? company;
    const links = { 'company-link': `${new URL(company).pathname}/link`, 'company-hold': hold };
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme });
      for (const [name, path] of Object.entries({ ...PAGES, company, ...links }))
        await picture(page, new URL(path, company).href, join(into, `${name}-${width}-${theme}.png`), true);
    }
    await page.close();
  }
}
