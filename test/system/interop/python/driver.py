"""Drives the example's client: each line of standard input is a JSON command, each line of standard output its answer,
{"ok": …} or {"error": {…}}."""

import asyncio
import json
import os
import sys

import order_saga


async def obey(client, command):
    do, request = command["do"], command.get("request")
    if do == "start":
        saga = await order_saga.start(client, "provisionServers", request, command["taskQueue"])
        return {"existing": saga.existing}
    saga = order_saga.Saga(client, f"provision/{command['reference']}", existing=True)
    if do == "decide":
        return await saga.decide(command["decision"], command["body"])
    if do == "cancel":
        return await saga.cancel(command["by"], command["note"])
    if do == "reached":
        return await saga.reached(command["milestone"])
    return await (saga.progress() if do == "progress" else saga.result())


async def main():
    client = await order_saga.connect(
        os.environ["TEMPORAL_ADDRESS"], os.environ["TEMPORAL_NAMESPACE"], os.environ["PAYLOAD_KEYS"]
    )
    print("ready", flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        try:
            answer = {"ok": await obey(client, json.loads(line))}
        except Exception as error:
            said = vars(error) if isinstance(error, order_saga.OrderSagaError) else {}
            answer = {"error": {"name": type(error).__name__, "message": str(error), **said}}
        print(json.dumps(answer), flush=True)


asyncio.run(main())
