import type { Logger } from 'pino';
import { importedPlugins, pluginIn } from '../../config/plugins/imported.ts';
import type { StrayError } from '../../runtime/stray-error.ts';

/** Logs a stray error, which ends the process: what happened, which plugin its stack names, and what to do. */
export function logStray(log: Logger, error: StrayError): void {
  const { stack = '', message } = error;
  const plugin = pluginIn(stack);
  const details = { err: error, ...(plugin !== undefined && { plugin }), advice: adviceFor(plugin) };
  log.fatal(details, `${whose(plugin)} threw outside of any call, so that this process ends: ${message}`);
}

const whose = (plugin: string | undefined): string =>
  plugin === undefined ? 'cvrsync, or a package that it uses,' : `the provider plugin ${plugin}`;

function adviceFor(plugin: string | undefined): string {
  if (plugin !== undefined)
    return `report it to the author of ${plugin}: await every promise, listen to the error event of every emitter, catch what a timer throws`;
  const plugins = importedPlugins();
  const report = 'report it as a bug of cvrsync with this line';
  return plugins.length === 0
    ? report
    : `its stack names no plugin, but a plugin may have caused it: first try without ${plugins.join(', ')}; if the error remains, ${report}`;
}
