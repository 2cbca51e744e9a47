import type { Config } from '../../config/load.ts';

/** What a configuration lacks that no daemon can run, for `serve` and `check`; undefined if there is something to run. */
export const nothingToRun = ({ connector, service }: Config): string | undefined =>
  connector === undefined && service === undefined
    ? 'nothing to run: the configuration has neither a connector nor a service section; write one with cvrsync config init'
    : undefined;
