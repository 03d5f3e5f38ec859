"""A backend in another language: the Python SDK with an AES-GCM payload codec in the wire format of Temporal's samples.

Knows nothing of order-saga but its contract. Connects by TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE, encrypts with
PAYLOAD_KEYS (`id:base64-of-32-bytes`, the first encrypts). Each line of standard input is a JSON command, each line of
standard output its answer: {"ok": …} or {"error": {…}}.
"""

import asyncio
import base64
import dataclasses
import json
import os
import sys

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from temporalio.api.common.v1 import Payload
from temporalio.client import Client, WorkflowFailureError, WorkflowUpdateFailedError
from temporalio.converter import (
    DataConverter,
    DefaultFailureConverterWithEncodedAttributes,
    PayloadCodec,
)
from temporalio.exceptions import ApplicationError

NONCE_BYTES = 12


class EncryptionCodec(PayloadCodec):
    def __init__(self, keys):
        self.ciphers = {
            key_id: AESGCM(base64.b64decode(key))
            for key_id, key in (entry.split(":") for entry in keys.split(","))
        }
        self.current = next(iter(self.ciphers))

    async def encode(self, payloads):
        return [self.encrypt(payload) for payload in payloads]

    async def decode(self, payloads):
        return [self.decrypt(payload) for payload in payloads]

    def encrypt(self, payload):
        nonce = os.urandom(NONCE_BYTES)
        cipher = self.ciphers[self.current]
        return Payload(
            metadata={
                "encoding": b"binary/encrypted",
                "encryption-key-id": self.current.encode(),
            },
            data=nonce + cipher.encrypt(nonce, payload.SerializeToString(), None),
        )

    def decrypt(self, payload):
        if payload.metadata.get("encoding") != b"binary/encrypted":
            return payload
        cipher = self.ciphers[payload.metadata["encryption-key-id"].decode()]
        nonce, data = payload.data[:NONCE_BYTES], payload.data[NONCE_BYTES:]
        return Payload.FromString(cipher.decrypt(nonce, data, None))


async def connect():
    converter = dataclasses.replace(
        DataConverter.default,
        payload_codec=EncryptionCodec(os.environ["PAYLOAD_KEYS"]),
        failure_converter_class=DefaultFailureConverterWithEncodedAttributes,
    )
    return await Client.connect(
        os.environ["TEMPORAL_ADDRESS"],
        namespace=os.environ["TEMPORAL_NAMESPACE"],
        data_converter=converter,
    )


async def obey(client, command):
    do, workflow_id = command["do"], command["workflowId"]
    handle = client.get_workflow_handle(workflow_id)
    if do == "start":
        started = await client.start_workflow(
            command["workflow"],
            command["request"],
            id=workflow_id,
            task_queue="order-saga",
        )
        return {"runId": started.first_execution_run_id}
    if do == "result":
        return await handle.result()
    if do == "progress":
        return await handle.query("progress")
    if do == "decide":
        return await handle.execute_update(command["decision"], command["body"])
    if do == "signal":
        return await handle.signal(command["decision"], command["body"])
    raise ValueError(f"there is no command {do}")


def describe(error):
    cause = getattr(error, "cause", None)
    if isinstance(error, (WorkflowFailureError, WorkflowUpdateFailedError)) and isinstance(
        cause, ApplicationError
    ):
        return {
            "type": cause.type,
            "message": cause.message,
            "details": list(cause.details),
            "stack": getattr(cause.failure, "stack_trace", ""),
        }
    return {"type": type(error).__name__, "message": str(cause or error)}


async def main():
    client = await connect()
    print("ready", flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        try:
            answer = {"ok": await obey(client, json.loads(line))}
        except Exception as error:
            answer = {"error": describe(error)}
        print(json.dumps(answer), flush=True)


asyncio.run(main())
