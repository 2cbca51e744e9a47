#!/usr/bin/env node
// The program's entry. Old JavaScript on purpose: it must run far enough on an old Node to say what is wrong.
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
  // Measured over 200,000 webhooks: 160 MB instead of 400. It works only before the heap has grown.
  process.getBuiltinModule('node:v8').setFlagsFromString('--optimize-for-size');
  process.getBuiltinModule('node:v8').setFlagsFromString('--max-semi-space-size=4');
  void import('./main.ts').then((program) => program.runProcess());
}
