import type { Config } from '../../config/load.ts';

/** Why no daemon can run this configuration, for `serve` and `check`; undefined if one can. */
export const nothingToRun = ({ connector, service }: Config): string | undefined =>
  connector === undefined && service === undefined
    ? 'nothing to run: the configuration has neither a connector nor a service section; write one with cvrsync config init'
    : undefined;
