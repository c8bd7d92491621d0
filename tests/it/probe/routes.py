# SPDX-License-Identifier: Apache-2.0
"""routes.py PORT PATHS - a crawler: so many random paths, each once, on one connection; every hundredth request is /checkout.
All are answered with an error."""
import random
import socket
import sys

sys.dont_write_bytecode = True
LETTERS = 'ghijklmnopqrstuvwxyz'  # no hex: the shape of such a path says nothing


def main():
    draw = random.Random(7)
    with socket.create_connection(('127.0.0.1', int(sys.argv[1]))) as s:
        for i in range(int(sys.argv[2])):
            path = '/' + ''.join(draw.choices(LETTERS, k=12)) if i % 100 else '/checkout'
            s.sendall(f'GET {path}?s=500 HTTP/1.1\r\nHost: x\r\n\r\n'.encode())
            answer = b''
            while b'\r\n\r\n' not in answer:
                part = s.recv(65536)
                if not part:
                    sys.exit('the server closed the connection')
                answer += part
            body = int(answer.lower().split(b'content-length:')[1].split()[0])
            left = body - len(answer.split(b'\r\n\r\n', 1)[1])
            while left > 0:
                left -= len(s.recv(left))


main()
