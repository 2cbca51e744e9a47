/**
 * Checks the spelling of the documents, of the comments in the code and of the texts of pages: British English, and the words of `.ci/words.txt`.
 * Refuses words that a reader stumbles over in the documents, in the texts of pages, and in the comments and messages of `src`
 * and `providers`. Prints each word with its place; exit code 1 if there is one.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import dictionary from 'dictionary-en-gb';
import nspell from 'nspell';

const FOLDERS = ['.github', 'docs', 'providers', 'scaffold', 'src', 'test'];

const spell = nspell(dictionary);
spell.personal(readFileSync(join(import.meta.dirname, 'words.txt'), 'utf8'));

const below = (folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.includes('node_modules'))
    .map((path) => join(folder, path));

/** Replaces with blanks of the same length, so that every word keeps its line. */
const blank = (text) => text.replaceAll(/[^\n]/gu, ' ');

/** What is no prose: code, addresses, names of files, `${…}`, anything with a digit, underscore, dot, slash or @ in it. */
const CODE = /```.*?```|`[^`\n]*`|<!--.*?-->|\]\([^)\s]*\)|\$?\{[^}\n]*\}|\S*[\d_/@\\<>=#]\S*|\S+\.\S+/gsu;

const proseOf = (text) => text.replaceAll(CODE, blank);

const COMMENT = /(?<=^|\s)(?:\/\*\*?.*?\*\/|\/\/ [^\n]*)/gsu;

/** The comments of a source, in their places. */
function commentsOf(source) {
  let end = 0;
  let text = '';
  for (const { 0: comment, index } of source.matchAll(COMMENT)) {
    text += blank(source.slice(end, index)) + comment;
    end = index + comment.length;
  }
  return text;
}

const READ = {
  md: proseOf,
  ts: (text) => proseOf(commentsOf(text)),
  // Texts of pages, without their keys.
  'en.json': (text) => proseOf(text.replaceAll(/^\s*"[^"]*": /gmu, blank).replaceAll('\\"', '  ')),
};

/** Words of three letters or more; not NAMES, names like readPage, and words of other alphabets' letters. */
const WORD = /(?<![\p{L}'’-])\p{L}[\p{L}'’]*\p{L}(?![\p{L}'’])/gu;
const isWord = (word) => word.length > 2 && /^\p{L}\p{Ll}+(?:['’]\p{Ll}+)?$/u.test(word);

const known = new Map();
function isKnown(word) {
  const plain = word.replace('’', "'").replace(/'s?$/u, '');
  if (!known.has(plain)) known.set(plain, spell.correct(plain));
  return known.get(plain);
}

/** Words that were once everywhere, with the plain form; add one when the last is gone. */
const PLAIN = {
  anew: 'again',
  attention: 'review',
  judged: 'decided, checked',
  judges: 'decides, checks',
  ruling: 'override',
  sight: 'revision',
  'stood still': 'froze',
  'told of': 'notified of, mentioned',
  vanished: 'withheld, or missing',
  whom: 'a sentence with "who" or a name',
  wished: 'desired',
};
const REFUSED = new RegExp(`\\b(?:${Object.keys(PLAIN).join('|')})\\b`, 'giu');

/** Texts of more than one word between quotes: what a person may read. */
const MESSAGE = /(['"`])(?:\\.|(?!\1)[^\\\n])*\1/gu;

/** The messages of a source, in their places. */
function messagesOf(source) {
  let end = 0;
  let text = '';
  for (const { 0: message, index } of source.matchAll(MESSAGE)) {
    text += blank(source.slice(end, index)) + (message.includes(' ') ? message : blank(message));
    end = index + message.length;
  }
  return text;
}

const isShown = (path) => !path.startsWith('test') && !path.startsWith('scaffold');

/** The refused words of a file, with their lines. */
function refusedIn(path, source, prose) {
  if (!isShown(path)) return [];
  const texts = path.endsWith('.ts')
    ? [prose, messagesOf(source.replaceAll(COMMENT, blank)).replaceAll(/\$\{[^}\n]*\}?/gu, blank)]
    : [prose];
  return texts.flatMap((text) =>
    text
      .split('\n')
      .flatMap((line, at) =>
        [...line.matchAll(REFUSED)].map(([word]) => `${path}:${at + 1} ${word} (write ${PLAIN[word.toLowerCase()]})`),
      ),
  );
}

const unknown = [];
const refused = [];
const top = readdirSync('.').filter((name) => name.endsWith('.md'));
for (const path of [...top, ...FOLDERS.filter(existsSync).flatMap(below)]) {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const read = READ[name] ?? READ[name.slice(name.lastIndexOf('.') + 1)];
  if (read === undefined) continue;
  const source = readFileSync(path, 'utf8');
  const prose = read(source);
  refused.push(...refusedIn(path, source, prose));
  for (const [line, text] of prose.split('\n').entries())
    for (const [word] of text.matchAll(WORD))
      if (isWord(word) && !isKnown(word)) unknown.push(`${path}:${line + 1} ${word}`);
}

process.stderr.write([...unknown, ...refused].map((one) => `${one}\n`).join(''));
if (unknown.length > 0) {
  process.stderr.write(
    `${unknown.length} unknown words: correct them (British English), or add a term of ours to .ci/words.txt.\n`,
  );
  process.exitCode = 1;
}
if (refused.length > 0) {
  process.stderr.write(`${refused.length} refused words, each with its plain form.\n`);
  process.exitCode = 1;
}
