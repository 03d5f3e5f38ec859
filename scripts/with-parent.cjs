/** Loaded into our programs (`--require`): when the process that started them has ended, however it ended, they stop. */
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
process.channel?.unref();
