#!/usr/bin/env python3
"""What a thousand external programs cost a live run: processor time, memory, latency, and how soon the dead are dropped.

Usage: tests/bench/clients/run.py [--clients 1000] [--seconds 20] [--ranks 64] [--rate 20000] [--pace newest]

It starts `mpiscope synth --live` and connects the clients at once. 80 % are well-behaved: they subscribe to the calls of
one rank, read all, answer pings, and once a second ask for something that is refused, which measures the latency of a
request. 10 % are slow: they subscribe to everything and read nothing. 10 % are hostile by turns: garbage, 2 MiB in one
message, a connection that says nothing, one that says hello and nothing more.

How to read it. `processor` is the share of one processor that the daemon takes, `before` without any client. `memory` is its
greatest resident size. `latency` is of requests, as the well-behaved see it; the clients share the machine with the daemon.
`dropped` is when only the well-behaved were left, after the last client had connected.
"""

import argparse
import asyncio
import base64
import json
import os
import re
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TICKS = os.sysconf("SC_CLK_TCK")


class Socket:
    """A WebSocket as far as it is needed here."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    @staticmethod
    async def connect(host, port, token):
        reader, writer = await asyncio.open_connection(host, port)
        key = base64.b64encode(os.urandom(16)).decode()
        writer.write(
            f"GET /programs HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
        )
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n", 1)[0]:
            raise ConnectionError(head.split(b"\r\n", 1)[0].decode())
        return Socket(reader, writer)

    def send(self, payload, opcode=1):
        size = len(payload)
        if size < 126:
            head = bytes([0x80 | opcode, 0x80 | size])
        elif size < 65536:
            head = bytes([0x80 | opcode, 0xFE]) + size.to_bytes(2, "big")
        else:
            head = bytes([0x80 | opcode, 0xFF]) + size.to_bytes(8, "big")
        # A mask of zeros leaves the payload as it is.
        self.writer.write(head + bytes(4) + payload)

    def say(self, **request):
        self.send(json.dumps(request).encode())

    async def hear(self):
        """The next text, or nothing once the server closes."""
        while True:
            first, second = await self.reader.readexactly(2)
            size = second & 0x7F
            if size > 125:
                size = int.from_bytes(await self.reader.readexactly(2 if size == 126 else 8), "big")
            payload = await self.reader.readexactly(size)
            if first & 0xF == 9:
                self.send(payload, opcode=10)
            elif first & 0xF == 8:
                return None
            elif first & 0xF == 1:
                return payload


async def well_behaved(socket, number, options, latencies, rows):
    socket.say(do="hello", protocol=1, name=f"good {number}")
    rank = number % options.ranks
    socket.say(do="subscribe", id=1, what="calls", ranks=[[rank, rank]], pace=options.pace, **{"from": "now"})
    asked = {}

    async def ask():
        await asyncio.sleep(number % 100 / 100)
        for request in range(1_000, 1 << 30):
            asked[request] = time.monotonic()
            socket.say(do="unsubscribe", id=request)
            await asyncio.sleep(1)

    asking = asyncio.create_task(ask())
    try:
        while (text := await socket.hear()) is not None:
            if text.startswith(b'{"kind":"failed"'):
                latencies.append(time.monotonic() - asked.pop(json.loads(text)["id"]))
            elif text.startswith(b'{"kind":"batch"'):
                rows[0] += 1
    finally:
        asking.cancel()


async def hostile(socket, number):
    kind = number % 4
    if kind == 0:
        socket.send(os.urandom(500))
    elif kind == 1:
        socket.say(do="hello", protocol=1, name="large")
        socket.send(bytes(2 << 20), opcode=2)
    elif kind == 3:
        socket.say(do="hello", protocol=1, name="silent")
    await asyncio.sleep(3600)


async def slow(socket):
    socket.say(do="hello", protocol=1, name="slow")
    socket.say(do="subscribe", id=1, what="calls", most=65536)
    # Nothing is read from here on, not even by the event loop.
    socket.writer.transport.pause_reading()
    await asyncio.sleep(3600)


async def programs(host, port, token):
    reader, writer = await asyncio.open_connection(host, port)
    head = f"GET /health HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    writer.write(head.encode())
    answer = await reader.read()
    writer.close()
    return json.loads(answer.split(b"\r\n\r\n", 1)[1])["programs"]


def processor_s(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory_mib(pid, name="VmHWM"):
    text = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"{name}:\s+(\d+)", text)[1]) / 1024


async def measure(options, pid, host, port, token):
    at = (host, port, token)
    before_s, before = processor_s(pid), time.monotonic()
    await asyncio.sleep(5)
    share = (processor_s(pid) - before_s) / (time.monotonic() - before)
    print(f"before     {share:.0%} of a processor, {memory_mib(pid):.0f} MiB")
    latencies, rows, tasks, refused = [], [0], [], 0
    good = options.clients * 8 // 10

    begun = time.monotonic()
    sockets = await asyncio.gather(*(Socket.connect(*at) for _ in range(options.clients)), return_exceptions=True)
    connected_s = time.monotonic() - begun
    for number, socket in enumerate(sockets):
        if isinstance(socket, BaseException):
            refused += 1
        elif number % 10 < 8:
            tasks.append(asyncio.create_task(well_behaved(socket, number, options, latencies, rows)))
        elif number % 10 == 8:
            tasks.append(asyncio.create_task(slow(socket)))
        else:
            tasks.append(asyncio.create_task(hostile(socket, number // 10)))
    print(f"connected  {options.clients - refused} of {options.clients} in {connected_s:.2f} s")
    begun, before_s, dropped_s, most = time.monotonic(), processor_s(pid), None, 0
    while time.monotonic() - begun < options.seconds:
        await asyncio.sleep(0.2)
        now = await programs(*at)
        most = max(most, now)
        if dropped_s is None and time.monotonic() - begun > 1 and now <= good:
            dropped_s = time.monotonic() - begun
    share = (processor_s(pid) - before_s) / (time.monotonic() - begun)
    alive = sum(not task.done() for number, task in enumerate(tasks) if number % 10 < 8)
    latencies.sort()
    at_share = lambda part: latencies[min(len(latencies) - 1, int(part * len(latencies)))] * 1e3
    print(f"processor  {share:.0%} of a processor")
    print(f"memory     {memory_mib(pid):.0f} MiB at most")
    if latencies:
        print(f"latency    {at_share(0.5):.1f} ms median, {at_share(0.99):.1f} ms 99 %, {at_share(1):.1f} ms most "
              f"of {len(latencies)} requests; {rows[0]} batches")
    print("dropped    " + ("not all" if dropped_s is None else f"all dead ones after {dropped_s:.1f} s")
          + f"; {most} clients at most, {alive} of {good} well-behaved are left")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--rate", type=int, default=20_000)
    parser.add_argument("--pace", default="newest")
    options = parser.parse_args()
    command = [ROOT / "target/release/mpiscope", "synth", "--pattern", "halo2d", "--ranks", options.ranks]
    command += ["--seconds", int(options.seconds) + 60, "--rate", options.rate, "--live", "127.0.0.1:0"]
    daemon = subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True)
    try:
        for line in daemon.stderr:
            if found := re.search(r"http://([\d.]+):(\d+)/\?token=(\w+)", line):
                break
        else:
            raise SystemExit("mpiscope synth said no address")
        asyncio.run(measure(options, daemon.pid, found[1], int(found[2]), found[3]))
    finally:
        daemon.terminate()
        daemon.wait()


if __name__ == "__main__":
    main()
