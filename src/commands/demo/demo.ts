/** `demo`: shows the main job without any setup. */
import { relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineCommand, flag, integer } from '../cli/command.ts';

const FOLDER = 'data/demo';
/** The pause between two changes after the scenes, in ms. */
const BEAT_MS = 3_000;

export const command = defineCommand({
  name: 'demo',
  examples: ['demo', 'demo --once --seed 7'],
  about: 'show the main job without any setup: a sample register and both CRMs emulated, no account and no network',
  options: { once: flag('end after the scenes'), seed: integer('play other scenes with another number (default 7)') },
  run: async (context, _args, { once, seed = 7 }) => {
    const { output, signal } = context;
    const { setUpDemo } = await import('./setup.ts');
    const { playOne, playScenes } = await import('./scenes.ts');
    // The daemon's log lines would hide the scenes.
    context.log.level = context.log.level === 'info' ? 'error' : context.log.level;
    const setup = await setUpDemo(context, FOLDER, seed);
    const say = (line: string): void => output.line(line);
    try {
      say(`cvrsync listens on ${setup.app.url}; nothing leaves this machine.`);
      for (const emulator of setup.emulators) {
        say(`An emulated ${emulator.name} listens on ${emulator.url}.`);
        emulator.onWrite = (id, properties) => say(`  ${emulator.name.padEnd(11)} ${id} ${shown(properties)}`);
      }
      say(`A mailbox listens on ${setup.mailbox.url}.`);
      setup.mailbox.onMail = (source) => say(`  mail        ${subjectOf(source)}`);
      await playScenes(setup, say, seed);
      const file = relative('.', setup.file);
      const one = setup.actors[1]?.versions[0].company.entityId ?? '';
      // In a clone npm runs the program; installed, npx finds it.
      const program = import.meta.url.endsWith('.ts') ? 'npm run cvrsync --' : 'npx cvrsync';
      say('\nWhere to look:');
      say(`  ${program} --config ${file} explain ${one}   why each property is what it is`);
      say(`  ${program} --config ${file} links            which record belongs to which company`);
      say(`  ${program} --config ${file} review           what needs a person`);
      if (once) return 0;
      say(`  ${await setup.signInLink()}   the dashboard; the link signs you in, once`);
      say(`  ${setup.app.adminUrl}/metrics   the daemon's metrics, once you are signed in`);
      say('\nA change follows every few seconds. Press Ctrl-C to end the demo.');
      for (let beat = seed + 1; !signal.aborted; beat += 1) {
        await sleep(BEAT_MS, undefined, { signal }).catch(() => undefined);
        if (!signal.aborted) await playOne(setup, say, beat);
      }
      return 0;
    } finally {
      await setup.close();
    }
  },
});

const MOST_SHOWN = 3;

/** The recipient and subject of a mail, with folded and encoded lines decoded. */
function subjectOf(source: string): string {
  const head = source.slice(0, source.search(/\r?\n\r?\n/)).replaceAll(/\r?\n[ \t]+/g, ' ');
  const header = (name: string): string => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1] ?? '';
  return `to ${header('to')}: ${decodeWords(header('subject'))}`;
}

/** Decodes the encoded words of a header (RFC 2047): UTF-8, in base64 or quoted. */
const decodeWords = (text: string): string =>
  text
    .replaceAll(/\?= =\?/g, '?==?')
    .replaceAll(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, how: string, word: string) =>
      how.toLowerCase() === 'b'
        ? Buffer.from(word, 'base64').toString('utf8')
        : decodeURIComponent(word.replaceAll('_', ' ').replaceAll(/=([0-9A-F]{2})/gi, '%$1')),
    );

function shown(properties: Readonly<Record<string, unknown>>): string {
  const all = Object.entries(properties).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const more = all.length > MOST_SHOWN ? `, and ${all.length - MOST_SHOWN} more` : '';
  return `${all.slice(0, MOST_SHOWN).join(', ')}${more}`;
}
