/** The configuration that no daemon can run: `serve` refuses it, and `check` says so before. */
import type { Config } from '../../config/load.ts';

/** What is missing; undefined where there is something to run. */
export const nothingToRun = ({ connector, service }: Config): string | undefined =>
  connector === undefined && service === undefined
    ? 'nothing to run: the configuration has neither a connector nor a service section; write one with cvrsync config init'
    : undefined;
