# SPDX-License-Identifier: Apache-2.0
"""across_asks.py - HOST PORT [PEER PEER_PORT]: with a peer, an HTTP server with a thread for each connection, which asks the
peer once for each request and waits for its word, of /new on a connection that it opens for it; without one, that peer: whatever it is sent, it says OK 100 ms later, by when whoever asked waits, also on a busy machine."""
import http.server
import socket
import socketserver
import sys
import time

kept = []


class Peer(socketserver.BaseRequestHandler):
    def handle(self):
        while self.request.recv(100):
            time.sleep(0.1)
            self.request.sendall(b"OK\n")


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        peer = kept[0] if kept and self.path != "/new" else socket.create_connection((sys.argv[3], int(sys.argv[4])))
        kept.append(peer)
        peer.sendall(b"QUERY 7\n")
        peer.recv(100)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


at = (sys.argv[1], int(sys.argv[2]))
socketserver.ThreadingTCPServer.allow_reuse_address = socketserver.ThreadingTCPServer.daemon_threads = True
if len(sys.argv) > 3:
    http.server.ThreadingHTTPServer(at, Server).serve_forever()
else:
    socketserver.ThreadingTCPServer(at, Peer).serve_forever()
