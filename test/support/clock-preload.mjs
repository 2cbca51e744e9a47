/** Loaded into a process before its program: SIGUSR2 sets its clock on by an hour, as a machine's that slept. */
const machine = Date.now;
let ahead = 0;
Date.now = () => machine() + ahead;
process.on('SIGUSR2', () => {
  ahead += 3_600_000;
});
