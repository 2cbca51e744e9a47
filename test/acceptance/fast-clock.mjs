/**
 * Loaded into a daemon before its program: its time runs `CVRSYNC_CLOCK_SCALE` times faster from `CVRSYNC_CLOCK_START` on (ms since
 * 1970), the same for all daemons of a run.
 */
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import promises from 'node:timers/promises';

const scale = Number(process.env['CVRSYNC_CLOCK_SCALE']);
const start = Number(process.env['CVRSYNC_CLOCK_START']);
const Machine = Date;
const now = () => start + Math.round((Machine.now() - start) * scale);

globalThis.Date = new Proxy(Machine, {
  construct: (target, given, as) => Reflect.construct(target, given.length === 0 ? [now()] : given, as),
  get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
});

timers.setTimeout = globalThis.setTimeout = new Proxy(timers.setTimeout, {
  apply: (target, self, [work, ms = 0, ...rest]) => Reflect.apply(target, self, [work, ms / scale, ...rest]),
});
timers.setInterval = globalThis.setInterval = new Proxy(timers.setInterval, {
  apply: (target, self, [work, ms = 0, ...rest]) => Reflect.apply(target, self, [work, ms / scale, ...rest]),
});
promises.setTimeout = new Proxy(promises.setTimeout, {
  apply: (target, self, [ms = 0, ...rest]) => Reflect.apply(target, self, [ms / scale, ...rest]),
});
syncBuiltinESMExports();
