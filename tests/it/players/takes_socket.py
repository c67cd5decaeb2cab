"""Plays three steps on a socket that it is handed, by the convention of systemd."""
import os
import socket
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

descriptor, port = map(int, sys.argv[1:])
assert os.environ["LISTEN_FDS"] == "1"
assert os.environ["LISTEN_PID"] == str(os.getpid())


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        message = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"(add 1)" if message.startswith(b"( PLAY") else b"ready")


server = HTTPServer(("127.0.0.1", 0), Handler, bind_and_activate=False)
server.socket.close()
server.socket = socket.socket(fileno=descriptor)
assert server.socket.getsockname() == ("127.0.0.1", port)
server.serve_forever()
