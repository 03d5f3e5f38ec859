/** The commands that hold new sagas, and release them. */
import type { OrderSagaClient } from '../client/client';
import { definedOnly } from '../domain/defined-only';
import { describeHold, type HoldWords } from '../domain/hold';
import type { Came, CommandContext } from './define';
import { withSagas } from './connect';

export function holdOn({ printer }: CommandContext, { by, note }: HoldWords): Promise<Came> {
  return withSagas(async (sagas) => {
    const { existing, kept = false } = await sagas.hold(definedOnly({ by, note }));
    const hold = await sagas.holding();
    const state = hold === undefined ? 'not held any more: the hold was released meanwhile' : describeHold(hold);
    const before = kept ? 'a worker had set that hold; it is yours now' : 'that hold was on before, and is not changed';
    printer.line(`new sagas are ${state}${existing ? `: ${before}` : ''}`);
    return { document: { hold, existing, kept } };
  });
}

export function holdOff({ printer }: CommandContext, { by, note }: HoldWords): Promise<Came> {
  return withSagas(async (sagas) => {
    const held = await sagas.countHeld();
    const { was } = await sagas.release(definedOnly({ by, note }));
    printer.line(was ? 'the hold is off: new sagas begin' : 'no hold was on');
    if (held > 0) printer.line(`${sagasHeld(held)} held: each begins within five minutes`);
    return { document: { was, held } };
  });
}

export function holdStatus({ printer }: CommandContext): Promise<Came> {
  return withSagas(async (sagas) => {
    const [hold, held] = await Promise.all([sagas.holding(), sagas.countHeld()]);
    printer.line(hold === undefined ? 'new sagas begin: no hold is on' : `new sagas are ${describeHold(hold)}`);
    printer.line(`${sagasHeld(held)} held`);
    return { document: { hold, held } };
  });
}

/** For an operator who looks at a list, and may not know why nothing begins. */
export async function reportHold({ printer }: CommandContext, sagas: OrderSagaClient): Promise<void> {
  const hold = await sagas.holding();
  if (hold) printer.toStderr(`new sagas are ${describeHold(hold)}; \`order-saga hold off\` lets them begin`);
}

function sagasHeld(count: number): string {
  return count === 1 ? '1 saga is' : `${count} sagas are`;
}
