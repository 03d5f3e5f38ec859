/**
 * From which events and bytes of its history on a saga goes more carefully. Temporal ends a run at 51,200 events or 50
 * MiB, as the server is shipped. Long before that a run is slow: whenever a worker takes it up anew, it replays all of
 * it, and has ten seconds for that. 15,000 events took it three seconds of processor time, and more than ten on a
 * machine that was busy.
 */
const MiB = 1024 * 1024;

export const marks = {
  forward: { sideBySideTo: { events: 10_000, bytes: 14 * MiB }, waitsTo: { events: 20_000, bytes: 28 * MiB } },
  undoing: { sideBySideTo: { events: 15_000, bytes: 21 * MiB }, waitsTo: { events: 25_000, bytes: 35 * MiB } },
};
