"""Plays three steps; at the second PLAY it takes more than it may: memory,
processes or cores."""
import os
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        message = self.rfile.read(int(self.headers["Content-Length"]))
        if message.startswith(b"( PLAY") and b"NIL" not in message:
            if sys.argv[2] == "memory":
                self.server.taken = b"x" * (200 << 20)
            elif sys.argv[2] == "processes":
                self.server.taken = [subprocess.Popen(["sleep", "1000"]) for _ in range(20)]
            elif sys.argv[2] == "memfd":
                # Held by a file that no process has mapped.
                os.write(os.memfd_create("taken"), b"x" * (90 << 20))
                os.write(os.memfd_create("more"), b"x" * (90 << 20))
            elif sys.argv[2] == "cores":
                os.sched_setaffinity(0, range(os.cpu_count()))
            else:
                print(*sorted(os.sched_getaffinity(0)), file=sys.stderr, flush=True)
            if sys.argv[2] != "cpus":
                time.sleep(1000)
        reply = b"(add 1)" if message.startswith(b"( PLAY") else b"ready"
        self.send_response(200)
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_):
        pass


HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
