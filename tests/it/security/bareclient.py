# SPDX-License-Identifier: Apache-2.0
"""bareclient.py - ZMTP 3 and CURVE (rfc.zeromq.org/spec/23 and /26) by hand, for what libzmq would not send. The
cryptography is libsodium's, which libzmq brings."""
import ctypes
import os
import socket
import struct

from zmq.utils import z85

SODIUM = ctypes.CDLL('libsodium.so.23')
GREETING = b'\xff' + bytes(8) + b'\x7f' + b'\3\0' + b'CURVE'.ljust(20, b'\0') + b'\0' + bytes(31)


def dial(url, timeout=3):
    host, port = url[6:].split(':')
    return socket.create_connection((host, int(port)), timeout)


def box(text, nonce, public, secret):
    out = ctypes.create_string_buffer(len(text) + 16)
    assert SODIUM.crypto_box_easy(out, text, ctypes.c_ulonglong(len(text)), nonce, public, secret) == 0
    return out.raw


def unbox(sealed, nonce, public, secret):
    out = ctypes.create_string_buffer(len(sealed) - 16)
    assert SODIUM.crypto_box_open_easy(out, sealed, ctypes.c_ulonglong(len(sealed)), nonce, public, secret) == 0
    return out.raw


def frame(data, command=False):
    flags = 4 if command else 0
    return (bytes([flags, len(data)]) if len(data) < 256 else struct.pack('>BQ', flags | 2, len(data))) + data


class Bare:
    """A connection that has proved its key."""
    def __init__(self, url, server, pair):
        self.sock, self.n = dial(url), 2
        server, public, secret = z85.decode(server), *map(z85.decode, pair)
        mine, my_secret = ctypes.create_string_buffer(32), ctypes.create_string_buffer(32)
        SODIUM.crypto_box_keypair(mine, my_secret)
        short = struct.pack('>Q', 1)
        self.sock.sendall(GREETING + frame(b'\5HELLO\1\0' + bytes(72) + mine.raw + short +
                                           box(bytes(64), b'CurveZMQHELLO---' + short, server, my_secret.raw), True))
        self.take(64)
        welcome = self.take_frame()
        said = unbox(welcome[24:], b'WELCOME-' + welcome[8:24], server, my_secret.raw)
        self.theirs, self.secret = said[:32], my_secret.raw
        long = os.urandom(16)
        vouch = box(mine.raw + server, b'VOUCH---' + long, self.theirs, secret)
        about = b'\x0bSocket-Type\0\0\0\6DEALER' + b'\x08Identity\0\0\0\0'
        short = struct.pack('>Q', 2)
        self.sock.sendall(frame(b'\x08INITIATE' + said[32:] + short + box(public + long + vouch + about, b'CurveZMQINITIATE' + short,
                                                                          self.theirs, self.secret), True))
        assert self.take_frame()[:6] == b'\5READY', 'this key does not come in'

    def take(self, n):
        data = b''
        while len(data) < n:
            more = self.sock.recv(n - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def take_frame(self):
        flags, = self.take(1)
        n, = struct.unpack('>Q', self.take(8)) if flags & 2 else self.take(1)
        return self.take(n)

    def message(self, data, more=False):
        """One frame of a message, as it is on the wire."""
        self.n += 1
        short = struct.pack('>Q', self.n)
        return frame(b'\7MESSAGE' + short + box(bytes([more]) + data, b'CurveZMQMESSAGEC' + short, self.theirs, self.secret))
