#!/usr/bin/env -S MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072 node --max-semi-space-size=16
// The program's entry. Old JavaScript on purpose: it must run far enough on an old Node to say what is wrong.
// The first line keeps memory low. One arena of malloc for all threads, and large buffers given back at once: 24 MB less
// under a flood of webhooks, more while the register is first read. Other C libraries than glibc pass the variables over.
var NEEDED = 24;
var major = Number(process.versions.node.split('.')[0]);

if (major < NEEDED) {
  process.stderr.write(
    'cvrsync needs Node ' +
      NEEDED +
      ' or newer, this is Node ' +
      process.versions.node +
      ': install it from https://nodejs.org, or start cvrsync by an npm script.\n',
  );
  process.exitCode = 2;
} else {
  // How far the heap grows before it is collected whole: 240 MB at the most under a flood of webhooks, 147 MB when it is
  // over. With V8's own choice 350 and 190, with 30 % 220 and 144, but both CRMs are kept up to date a tenth slower.
  process.getBuiltinModule('node:v8').setFlagsFromString('--heap-growing-percent=80');
  void import('./main.ts').then((program) => program.runProcess());
}
