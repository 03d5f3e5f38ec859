"""What needs no server: python check_client.py"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast
from types import SimpleNamespace
from unittest import IsolatedAsyncioTestCase, main

from temporalio.client import WorkflowExecutionStatus, WorkflowFailureError
from temporalio.exceptions import ApplicationError, TerminatedError
from temporalio.service import RPCError, RPCStatusCode

import order_saga
from models import Progress


class Away(order_saga.Saga):
    """A saga that waits, and whose worker answers the second time; nothing happens in its history meanwhile."""

    def __init__(self) -> None:
        self.asked = 0

    @property
    def latest(self) -> Any:
        return self

    async def describe(self) -> Any:
        return SimpleNamespace(close_time=None)

    async def fetch_history_events(self, wait_new_event: bool) -> AsyncIterator[None]:
        yield None
        await asyncio.Event().wait()

    async def progress(self) -> Progress:
        self.asked += 1
        if self.asked == 1:
            raise order_saga.NoWorkerError
        return cast(Progress, {"reached": [], "waiting": {"kind": "approval", "question": "?"}})


class Reset(order_saga.Saga):
    """A run that a Reset has ended, while another one went on and was refused."""

    def __init__(self) -> None:
        self.workflow_id = "provision/PO-1"
        self.described = 0
        self.client = cast(Any, self)

    @property
    def latest(self) -> Any:
        return self

    def get_workflow_handle(self, _: str, run_id: str) -> Any:
        return Run(run_id)

    async def describe(self) -> Any:
        self.described += 1
        status = WorkflowExecutionStatus.FAILED
        return SimpleNamespace(run_id="first" if self.described == 1 else "second", status=status)


class Cut(order_saga.Saga):
    """A saga to which the line is cut at first; then it is answered with what comes next."""

    def __init__(self, *answers: RPCStatusCode) -> None:
        self.answers = list(answers)

    async def end(self) -> dict[str, Any]:
        if self.answers:
            raise RPCError("no", self.answers.pop(0), b"")
        return {"outcome": "done"}


class Run:
    def __init__(self, run_id: str) -> None:
        self.run_id = run_id

    async def result(self, follow_runs: bool) -> None:
        refused = ApplicationError("no", {"outcome": "reversed"}, type="OrderRejected")
        cause = TerminatedError("reset") if self.run_id == "first" else refused
        raise WorkflowFailureError(cause=cause)


class Rules(IsolatedAsyncioTestCase):
    async def test_5_follows_the_workflow_behind_a_reset(self) -> None:
        with self.assertRaises(order_saga.SagaFailedError):
            await Reset().result()

    async def test_10_asks_again_until_a_worker_answers(self) -> None:
        with self.assertRaises(order_saga.SagaWaitsError):
            await asyncio.wait_for(Away().reached("servers"), 30)

    async def test_10_waits_through_a_cut(self) -> None:
        result = await Cut(RPCStatusCode.UNAVAILABLE, RPCStatusCode.INTERNAL).result()
        self.assertEqual(result, {"outcome": "done"})
        for refused in (RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.NOT_FOUND):
            with self.assertRaises(RPCError):
                await Cut(refused).result()

    async def test_11_sends_nothing_in_the_clear_to_another_machine(self) -> None:
        for keys in (None, ""):
            with self.assertRaises(ValueError):
                await order_saga.connect("temporal.example:7233", "shop", keys)


main()
