/** How the scripts are built that tests start as processes: as the program is, but that they are no part of it. */
import { globSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'rolldown';
import program from '../../rolldown.config.ts';

const TEST = path.join(import.meta.dirname, '..');
const scripts = globSync('**/*-process.ts', { cwd: TEST });

export default defineConfig({
  ...program,
  input: Object.fromEntries(scripts.map((script) => [script.slice(0, -'.ts'.length), path.join(TEST, script)])),
  plugins: [],
});
