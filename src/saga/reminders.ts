/**
 * When to remind of a wait: after an hour, then four times as long each time, at most half a year. A year of waiting is
 * seven reminders and eight timers, about a hundred events; an operator should have looked within about an hour.
 */
export function* reminderDelaysMs(): Generator<number, never> {
  const hourMs = 60 * 60 * 1000;
  const longestMs = 182 * 24 * hourMs;
  for (let delayMs = hourMs; ; delayMs = Math.min(delayMs * 4, longestMs)) yield delayMs;
}
