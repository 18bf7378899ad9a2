"""Datagrams between two hosts of a lab whose monotonic clocks are the same.

    lab_echo.py serve                   answers for ever; says "ready" when it does
    lab_echo.py ask HOST COUNT PAUSE    asks so often, PAUSE seconds apart; prints, of each question that was answered
                                        within 1 s, when it was asked, how long it took, and the answer (seconds)
"""

import json
import select
import socket
import sys
import time

PORT = 7007
ANSWER_SECONDS = 1


def serve():
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("0.0.0.0", PORT))
    print("ready", flush=True)
    while True:
        question, asker = server.recvfrom(100)
        server.sendto(json.dumps([int(question), time.monotonic()]).encode(), asker)


def ask(host, count, pause):
    """Answers are taken whenever they come: a lost one holds nothing up."""
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.connect((host, PORT))
    asked = []
    answers = []
    end = None
    while len(answers) < count and (end is None or time.monotonic() < end):
        if len(asked) < count and (not asked or time.monotonic() >= asked[-1] + pause):
            asked.append(time.monotonic())
            try:
                client.send(str(len(asked) - 1).encode())
            except OSError:
                # Where the link is cut the kernel may know.
                pass
            if len(asked) == count:
                end = time.monotonic() + ANSWER_SECONDS
        if select.select([client], [], [], pause)[0]:
            try:
                number, heard = json.loads(client.recv(100))
            except OSError:
                # Nobody serves there, or the way is cut: said instead of an answer.
                continue
            answers.append({"asked": asked[number], "there": heard - asked[number], "back": time.monotonic() - heard})
    print(json.dumps({"begun": asked[0], "asked": count, "answers": answers}))


if sys.argv[1] == "serve":
    serve()
else:
    ask(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
