/** Somebody at a page who has no mouse. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const MOST_TABS = 150;

/** What the focused element is called. */
const FOCUSED =
  '(document.activeElement.getAttribute("aria-label") ?? document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent).trim()';

/** Whether what the page gives the focus to has it. */
const HAS_FOCUS =
  'location.hash !== "" || [null, document.activeElement].includes(document.querySelector("[autofocus]"))';

/** Waits until the page has given the focus: the browser does that with the first frame, after it has loaded. */
export const focusGiven = (page: Page): Promise<void> =>
  expect.poll(() => page.evaluate(HAS_FOCUS), { timeout: 60_000 }).toBe(true);

/** Presses what leads to another page, and waits until keys reach it. */
export async function toNextPage(page: Page, pressed: () => Promise<unknown>): Promise<void> {
  await Promise.all([page.waitForNavigation(), pressed()]);
  await focusGiven(page);
}

export interface Keyboard {
  /** Keys pressed so far. What is typed or pasted as a whole counts as one. */
  readonly count: number;
  key(name: string): Promise<void>;
  enter(text: string): Promise<void>;
  /** Tabs on to what is called so. */
  tabTo(name: RegExp): Promise<void>;
  /** Tabs on to what is called so, presses Enter, and waits for the page behind it. */
  press(name: RegExp): Promise<void>;
  /** Goes to the content of a page: by its letter behind `g`, or without scripts by its link and past the head. */
  go(letter: string, link: RegExp): Promise<void>;
  /** Passes over what stands at the head of each page. */
  skipToContent(): Promise<void>;
  /** Waits for the page to hold these words; without scripts a reader loads it again, which counts as one key. */
  shows(words: string): Promise<void>;
}

export function keyboardOf(page: Page, script: boolean): Keyboard {
  let count = 0;
  async function key(name: string): Promise<void> {
    count += 1;
    await page.keyboard.press(name);
  }
  async function tabTo(name: RegExp): Promise<void> {
    const passed: string[] = [];
    for (let left = MOST_TABS; left > 0; left -= 1) {
      await key('Tab');
      const focused = String(await page.evaluate(FOCUSED));
      if (name.test(focused)) return;
      passed.push(focused.slice(0, 40));
    }
    throw new Error(`no ${name} among ${passed.join(' | ')}`);
  }
  async function press(name: RegExp): Promise<void> {
    await tabTo(name);
    await toNextPage(page, () => key('Enter'));
  }
  async function skipToContent(): Promise<void> {
    await tabTo(/^(?:Skip to content|Gå til indhold)$/u);
    await key('Enter');
  }
  return {
    get count() {
      return count;
    },
    key,
    async enter(text) {
      count += 1;
      await page.keyboard.insertText(text);
    },
    tabTo,
    press,
    async go(letter, link) {
      if (!script) {
        await press(link);
        return await skipToContent();
      }
      await key('g');
      await toNextPage(page, () => key(letter));
    },
    skipToContent,
    async shows(words) {
      let isReloaded = false;
      await expect
        .poll(async () => {
          if (!script) {
            isReloaded = true;
            await page.reload();
          }
          return page.textContent('main');
        })
        .toContain(words);
      // How often depends on the machine: a reader waits, and loads once.
      if (isReloaded) count += 1;
    },
  };
}
