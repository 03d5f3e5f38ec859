"""What needs no server: python check_client.py"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast
from unittest import IsolatedAsyncioTestCase, main

import order_saga
from models import Progress


class Away(order_saga.Saga):
    """A saga that waits, and whose worker answers the second time; nothing happens in its history meanwhile."""

    def __init__(self) -> None:
        self.asked = 0

    @property
    def latest(self) -> Any:
        return self

    async def fetch_history_events(self, wait_new_event: bool) -> AsyncIterator[None]:
        yield None
        await asyncio.Event().wait()

    async def progress(self) -> Progress:
        self.asked += 1
        if self.asked == 1:
            raise order_saga.NoWorkerError
        return cast(Progress, {"reached": [], "waiting": {"kind": "approval", "question": "?"}})


class Rules(IsolatedAsyncioTestCase):
    async def test_10_asks_again_until_a_worker_answers(self) -> None:
        with self.assertRaises(order_saga.SagaWaitsError):
            await asyncio.wait_for(Away().reached("servers"), 30)

    async def test_11_sends_nothing_in_the_clear_to_another_machine(self) -> None:
        for keys in (None, ""):
            with self.assertRaises(ValueError):
                await order_saga.connect("temporal.example:7233", "shop", keys)


main()
