/** Explains why a server cannot listen, with the settings to change. */

/** Names of the settings for host and port: `server.port`, `--port`. */
export interface ListenSettings {
  readonly host: string;
  readonly port: string;
}

export function listenError(error: unknown, at: { host: string; port: number }, settings: ListenSettings): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const said = (text: string) => new Error(text, { cause: error });
  if (code === 'EADDRINUSE')
    return said(
      `port ${at.port} of ${at.host} is taken: another program listens there, perhaps cvrsync itself. Stop it, or set another ${settings.port}`,
    );
  if (code === 'EACCES')
    return said(`this user may not listen on port ${at.port}: set ${settings.port} to one of 1024 or more`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return said(`${at.host} is not an address of this machine: correct ${settings.host}`);
  return error;
}
