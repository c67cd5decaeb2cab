"""Plays three steps, and never does harm. With `late` it is slow to listen, so that somebody else
can take its port, which it waits for; with `shared` it lets others listen besides it, and answers
its first PLAY once somebody does."""
import os
import socket
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

how, folder, port = sys.argv[1:]
stolen = os.path.join(folder, "stolen")


def wait_for(path):
    while not os.path.exists(path):
        time.sleep(0.005)


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        message = self.rfile.read(int(self.headers["Content-Length"]))
        is_play = message.startswith(b"( PLAY")
        if is_play and how == "shared":
            open(os.path.join(folder, "go"), "w").close()
            wait_for(stolen)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"(add 1)" if is_play else b"ready")


class Server(HTTPServer):
    def server_bind(self):
        if how == "shared":
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        super().server_bind()


if how == "late":
    wait_for(stolen)
Server(("127.0.0.1", int(port)), Handler).serve_forever()
