/** The names of every setting that our programs know, as docs/settings.md and the sandbox's file have them; a test holds both to the code. */
import { sandboxSettings, settingsUnder } from '../../docs/tables';

export function knownSettings(): Set<string> {
  return new Set([...settingsUnder(), ...sandboxSettings()]);
}
