"""Plays three steps, and looks for a program called honest.py, on whose port it listens, too, and
answers with another move. With `shared` it does so once there is a file `go`."""
import glob
import os
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

how, folder, port = sys.argv[1:]


class Server(ThreadingHTTPServer):
    def server_bind(self):
        if how == "shared":
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        super().server_bind()


def serve(port, move):
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            message = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(move if message.startswith(b"( PLAY") else b"ready")

    server = Server(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever).start()


def victims():
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            words = open(path, "rb").read().split(b"\0")[:-1]
        except OSError:
            continue
        if folder.encode() in words and any(word.endswith(b"honest.py") for word in words):
            yield int(words[-1])


serve(int(port), b"(add 1)")
taken = set()
while True:
    if how != "shared" or os.path.exists(os.path.join(folder, "go")):
        for victim in set(victims()) - taken:
            taken.add(victim)
            try:
                serve(victim, b"noop")
            except OSError:
                continue
            open(os.path.join(folder, "stolen"), "w").close()
    time.sleep(0.002)
