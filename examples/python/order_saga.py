"""A client of order-saga: starts sagas, watches them, decides for them and reads how they ended.

It keeps the rules of docs/clients.md; the numbers in the comments are theirs. Copy it into your backend.
"""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import json
import os
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, Literal, TypeVar, cast
from uuid import uuid4

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from temporalio.api.common.v1 import Payload
from temporalio.api.enums.v1 import EventType
from temporalio.api.workflowservice.v1 import RequestCancelWorkflowExecutionRequest
from temporalio.client import (
    Client,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import Priority, WorkflowIDConflictPolicy, WorkflowIDReusePolicy
from temporalio.converter import DataConverter, DefaultFailureConverterWithEncodedAttributes, PayloadCodec
from temporalio.exceptions import ApplicationError, CancelledError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from models import Progress, Report

Workflow = Literal["provisionServers", "changeOrder", "switchPlan", "setFirewalls"]
Milestone = Literal["placed", "servers", "protected"]

prefixes: dict[Workflow, str] = {
    "provisionServers": "provision",
    "changeOrder": "change",
    "switchPlan": "switch",
    "setFirewalls": "firewalls",
}
took_nothing = ["InvalidRequest", "ReferenceTaken"]
cut = [
    RPCStatusCode.UNAVAILABLE,
    RPCStatusCode.DEADLINE_EXCEEDED,
    RPCStatusCode.CANCELLED,
    RPCStatusCode.INTERNAL,
]
no_worker = [RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.FAILED_PRECONDITION, RPCStatusCode.CANCELLED]


class OrderSagaError(Exception):
    """The base of all of them. None carries a value of a request: it may be a password."""


class ReferenceTakenError(OrderSagaError):
    """The reference belongs to another request. Nothing was started; `fields` are the names of what differs."""

    def __init__(self, fields: list[str]):
        super().__init__(f"the reference is taken by another request, which differs in {', '.join(fields)}")
        self.fields = fields


class SagaFailedError(OrderSagaError):
    """The saga ended by its own decision, after it had undone what could be undone."""

    def __init__(self, type: str, message: str, report: Report):
        super().__init__(message)
        self.type = type
        self.report = report


class SagaCancelledError(OrderSagaError):
    """It does not mean that nothing was placed: see the report."""

    def __init__(self, report: Report):
        super().__init__(report["why"])
        self.report = report


class SagaLostError(OrderSagaError):
    """Ended from outside. Nobody knows what it has undone; what it had done is in the journal: order-saga record."""


class SagaWaitsError(OrderSagaError):
    """It waits for a person, and is not over."""

    def __init__(self, waiting: dict[str, Any]):
        super().__init__(f"it waits for a person, as {waiting['kind']}: {waiting['question']}")
        self.waiting = waiting


class MilestoneMissedError(OrderSagaError):
    """The saga has ended well, without coming to this milestone."""


class DecisionRefusedError(OrderSagaError):
    """The decision does not fit. Nothing changed; the sentence says what would fit."""


class NoWorkerError(OrderSagaError):
    """Temporal answers, no worker does. Nothing is lost. After a decision, the progress tells whether it was taken."""


class Codec(PayloadCodec):
    """11: AES-GCM in the wire format of Temporal's samples: nonce (12 bytes), ciphertext, tag (16 bytes)."""

    def __init__(self, keys: str):
        """`keys` as PAYLOAD_KEYS: `id:base64 of 32 bytes`, comma-separated, of which the first encrypts; or none."""
        entries = [entry.strip().split(":") for entry in keys.split(",") if entry]
        self.ciphers = {id: AESGCM(base64.b64decode(key)) for id, key in entries}
        self.current = entries[0][0] if entries else ""

    async def encode(self, payloads: Any) -> list[Payload]:
        return [self.encrypt(payload) for payload in payloads] if self.current else list(payloads)

    async def decode(self, payloads: Any) -> list[Payload]:
        return [self.decrypt(payload) for payload in payloads]

    def encrypt(self, payload: Payload) -> Payload:
        nonce = os.urandom(12)
        data = nonce + self.ciphers[self.current].encrypt(nonce, payload.SerializeToString(), None)
        return Payload(
            metadata={"encoding": b"binary/encrypted", "encryption-key-id": self.current.encode()},
            data=data,
        )

    def decrypt(self, payload: Payload) -> Payload:
        if payload.metadata.get("encoding") != b"binary/encrypted":
            return payload
        key = payload.metadata["encryption-key-id"].decode()
        if (cipher := self.ciphers.get(key)) is None:
            raise OrderSagaError(f"its data is encrypted with the key {key}, which is not among payload_keys")
        return Payload.FromString(cipher.decrypt(payload.data[:12], payload.data[12:], None))


async def connect(address: str, namespace: str = "default", payload_keys: str | None = None) -> Client:
    """11: without keys, only to a server on this machine: a variable that was forgotten must not send in the clear."""
    if not payload_keys and address.rpartition(":")[0] not in ("localhost", "127.0.0.1", "[::1]"):
        raise ValueError("payload_keys: is required for a Temporal server that is not on this machine")
    converter = dataclasses.replace(DataConverter.default, payload_codec=Codec(payload_keys or ""))
    if payload_keys:
        # 11: messages of failures, too.
        converter = dataclasses.replace(
            converter, failure_converter_class=DefaultFailureConverterWithEncodedAttributes
        )
    return await Client.connect(address, namespace=namespace, data_converter=converter)


T = TypeVar("T")


async def through_cuts(call: Callable[[], Awaitable[T]]) -> T:
    """10: a wait goes on while Temporal is away. What it refuses (credentials, a namespace) ends it."""
    while True:
        try:
            return await call()
        except RPCError as error:
            if error.status not in cut:
                raise
        await asyncio.sleep(1)


class Saga:
    """Follows the reference, not a run: after a Reset, another run goes on (5)."""

    def __init__(self, client: Client, workflow_id: str, existing: bool):
        self.client = client
        self.workflow_id = workflow_id
        self.existing = existing

    @property
    def latest(self) -> WorkflowHandle[Any, Any]:
        return self.client.get_workflow_handle(self.workflow_id)

    async def progress(self) -> Progress:
        """The state of the saga, also after its end. 8: where no worker answers, that says nothing about the saga."""
        try:
            return cast(Progress, await self.latest.query("progress", rpc_timeout=timedelta(seconds=10)))
        except RPCError as error:
            if error.status not in no_worker:
                raise
            raise NoWorkerError("no worker answers; is one running?") from None

    async def answered(self) -> Progress:
        """The progress, as soon as a worker answers: without one no event comes that would tell to ask again."""
        while True:
            try:
                return await self.progress()
            except NoWorkerError:
                await asyncio.sleep(1)

    async def reached(self, milestone: Milestone) -> dict[str, Any]:
        """Waits until the saga has come so far: `at`, and `vmObjectIds` where they are known. Raises as result()."""
        return await through_cuts(lambda: self.comes_to(milestone))

    async def comes_to(self, milestone: Milestone) -> dict[str, Any]:
        while True:
            # 10: one call that waits for the next event, instead of asking again and again.
            async for _ in self.latest.fetch_history_events(wait_new_event=True):
                progress = await self.answered()
                for one in progress["reached"]:
                    if one["milestone"] == milestone:
                        return cast(dict[str, Any], one)
                # A run that was ended from outside still answers with the question that it asked.
                if "waiting" in progress and (await self.latest.describe()).close_time is None:
                    raise SagaWaitsError(cast(dict[str, Any], progress["waiting"]))
            if (await self.latest.describe()).status != WorkflowExecutionStatus.RUNNING:
                await self.result()
                raise MilestoneMissedError(f"{self.workflow_id} has ended, and has not come to “{milestone}”")

    async def decide(self, decision: str, body: dict[str, Any]) -> dict[str, Any]:
        """7: `body` names the question that was read, as `waiting.id`, so that no answer meets another question."""
        try:
            taken = await self.latest.execute_update(decision, body, rpc_timeout=timedelta(seconds=10))
            return cast(dict[str, Any], taken)
        except WorkflowUpdateFailedError as error:
            raise DecisionRefusedError(str(error.cause)) from None
        except WorkflowUpdateRPCTimeoutOrCancelledError:
            raise NoWorkerError("no worker answers; the progress will tell whether the decision was taken") from None

    async def cancel(self, by: str, note: str) -> None:
        """9: who wants it, and why, comes first: it stays in the report. The end comes later, see result()."""
        token = str(uuid4())
        await self.latest.signal("cancelledBy", {"by": by, "note": note, "token": token})
        asked = RequestCancelWorkflowExecutionRequest(namespace=self.client.namespace, reason=token, request_id=token)
        asked.workflow_execution.workflow_id = self.workflow_id
        await self.client.workflow_service.request_cancel_workflow_execution(asked)

    async def result(self) -> dict[str, Any]:
        """6: waits for the end, however long it takes, and reads each way to end."""
        return await through_cuts(self.end)

    async def end(self) -> dict[str, Any]:
        while True:
            run_id = (await self.latest.describe()).run_id
            run = self.client.get_workflow_handle(self.workflow_id, run_id=run_id)
            try:
                return cast(dict[str, Any], await run.result(follow_runs=False))
            except WorkflowFailureError as error:
                cause, ended = error.cause, await self.latest.describe()
            # 5: a Reset ended that run, and started another one.
            if ended.run_id != run_id:
                continue
            if isinstance(cause, ApplicationError) and cause.type and cause.details:
                # 12: a newer release may have a failure that this client does not know; its report says what was done.
                raise SagaFailedError(cause.type, cause.message, cause.details[0])
            if isinstance(cause, CancelledError) and "report" in (memo := await ended.memo()):
                raise SagaCancelledError(memo["report"])
            raise SagaLostError(f"{self.workflow_id} was ended from outside: {type(cause).__name__}")


async def start(client: Client, workflow: Workflow, request: Any, task_queue: str = "order-saga") -> Saga:
    """Starts a saga, or finds the one that the same request started before.

    2: whoever does not know whether a start has arrived starts again, with the same reference and the same request.
    """
    workflow_id = f"{prefixes[workflow]}/{request['reference']}"
    account = request.get("account")

    async def once(reuse: WorkflowIDReusePolicy) -> Saga:
        await client.start_workflow(
            workflow,
            request,
            id=workflow_id,
            task_queue=task_queue,
            # 1: one run for a reference, also after that has ended.
            id_reuse_policy=reuse,
            id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
            priority=Priority(fairness_key=account) if account else Priority.default,
        )
        return Saga(client, workflow_id, existing=False)

    try:
        return await once(WorkflowIDReusePolicy.REJECT_DUPLICATE)
    except WorkflowAlreadyStartedError:
        # As it is sent: a tuple is a list there.
        differing = differences(await first_request(client, workflow_id), json.loads(json.dumps(request)))
    if not differing:
        return Saga(client, workflow_id, existing=True)
    # 4: a run that was refused as a whole has not taken its reference. The new run asks the journal.
    if await ended_as(client, workflow_id) in took_nothing:
        return await once(WorkflowIDReusePolicy.ALLOW_DUPLICATE)
    raise ReferenceTakenError(differing)


async def first_request(client: Client, workflow_id: str) -> Any:
    """3: what the reference belongs to stands in the first event of its run."""
    handle = client.get_workflow_handle(workflow_id)
    first = await anext(handle.fetch_history_events())
    payloads = list(first.workflow_execution_started_event_attributes.input.payloads)
    [request] = await client.data_converter.decode(payloads)
    return request


async def ended_as(client: Client, workflow_id: str) -> str | None:
    last = client.get_workflow_handle(workflow_id)
    if (await last.describe()).status != WorkflowExecutionStatus.FAILED:
        return None
    async for event in last.fetch_history_events(skip_archival=True):
        if event.event_type == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED:
            return event.workflow_execution_failed_event_attributes.failure.application_failure_info.type
    return None


def differences(one: Any, other: Any, at: str = "") -> list[str]:
    """The names of the fields that differ, like `items[0].plan_id`; never their values."""
    if isinstance(one, dict) and isinstance(other, dict):
        names = [(f"{at}.{name}" if at else name, name) for name in {**one, **other}]
        return [
            found
            for path, name in names
            for found in ([path] if (name in one) != (name in other) else differences(one[name], other[name], path))
        ]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other))
        return [found for index, (a, b) in pairs for found in differences(a, b, f"{at}[{index}]")]
    return [] if one == other and type(one) is type(other) else [at or "the request as a whole"]
