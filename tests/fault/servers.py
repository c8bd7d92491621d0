# SPDX-License-Identifier: Apache-2.0
"""servers.py - the four servers under test, and the upstream of all: start, stop, whose pids."""
import json
import os
import random
import signal
import subprocess
import time

import hosts

PORT, UP_PORT, NO_PORT = 8000, 9000, 9009
KINDS = ("nginx", "threaded", "node", "forking")
TEXT_KB = {"small": 16, "middle": 500, "big": 2500}

NGINX = """
daemon off; worker_processes 1; user root; pid {dir}/nginx.pid; error_log {dir}/error.log crit;
events {{ worker_connections 512; }}
http {{
	client_body_temp_path {dir}/t1; proxy_temp_path {dir}/t2; fastcgi_temp_path {dir}/t3; uwsgi_temp_path {dir}/t4; scgi_temp_path {dir}/t5;
	log_format truth escape=json '{{"path":"$uri","end":$msec,"seconds":$request_time,"upstream":"$upstream_addr","upSeconds":"$upstream_response_time","status":$status}}';
	access_log {log} truth; keepalive_requests 1000000; keepalive_timeout 600s;
	proxy_buffers 32 32k; proxy_busy_buffers_size 64k; proxy_buffer_size 16k; sendfile off; output_buffers 2 64k;
	server {{
		listen {address} backlog={backlog};
		location / {{ proxy_pass http://{up}; }}
		location ~ ^/[a-z-]*refused[-a-d]*/ {{ proxy_pass http://{refused}; }}
		location ~ ^/[a-z-]*(busy|hog|quota)[-a-d]*/ {{ root {dir}; gzip on; gzip_comp_level 9; gzip_types *; default_type text/plain; try_files /text-$arg_kb.txt =404; }}
		location ~ ^/[a-z-]*read[-a-d]*/ {{ root {dir}; try_files /catalog.dat =404; }}
	}}
}}
"""


def make_files(dir):
    with open(dir + "/catalog.dat", "wb") as f:
        for _ in range(16):
            f.write(os.urandom(1 << 20))
        f.flush()
        os.fsync(f.fileno())
    rnd = random.Random(4)
    words = ["".join(rnd.choices("etaoinshrdlu", k=rnd.randint(2, 9))) for _ in range(400)]
    for name, kb in TEXT_KB.items():
        text = " ".join(rnd.choices(words, k=kb * 200))[:kb << 10]
        with open("%s/text-%s.txt" % (dir, name), "w") as f:
            f.write(text)
            f.flush()
            os.fsync(f.fileno())


class Server:
    """One of KINDS on its host, or the upstream on its own."""

    def __init__(self, kind, rig, backlog=512):
        self.kind, self.rig, self.dir = kind, rig, rig.dir
        self.log = "%s/%s.log" % (self.dir, kind)
        self.address = "%s:%d" % ((hosts.UP, UP_PORT) if kind == "upstream" else (hosts.SERVER, PORT))
        open(self.log, "w").close()
        # First for processors (hosts.py), not for the disk, which would follow from that.
        self.process = subprocess.Popen(["ionice", "-c", "2"] + self.command(backlog), preexec_fn=self.place, stdin=subprocess.DEVNULL)
        self.await_port()

    def command(self, backlog):
        up = "%s:%d" % (hosts.UP, UP_PORT)
        if self.kind == "nginx":
            with open(self.dir + "/nginx.conf", "w") as f:
                f.write(NGINX.format(dir=self.dir, log=self.log, address=self.address, up=up, backlog=backlog,
                                     refused="%s:%d" % (hosts.UP, NO_PORT)))
            return ["nginx", "-c", self.dir + "/nginx.conf", "-e", self.dir + "/error.log"]
        if self.kind == "node":
            here = os.path.dirname(os.path.abspath(__file__))
            return ["node", here + "/node.mjs", self.address, self.log, self.dir, up, str(backlog)]
        return [self.rig.build + "/fault/server", "forking" if self.kind == "forking" else "threaded", self.address,
                "--log", self.log, "--dir", self.dir, "--upstream", up, "--backlog", str(backlog),
                "--netns", hosts.NAMES["up" if self.kind == "upstream" else "server"]]

    def place(self):
        tested = self.kind != "upstream"
        os.setsid()
        self.rig.hosts.cgroups.join("server" if tested else "others")
        os.sched_setaffinity(0, {self.rig.cpu if tested else self.rig.other_cpu})
        if self.kind in ("nginx", "node"):
            hosts.enter(hosts.NAMES["server"])

    def await_port(self):
        pid, host = os.getpid(), "up" if self.kind == "upstream" else "server"
        hexed = ":%04X 00000000:0000 0A" % int(self.address.rpartition(":")[2])
        for _ in range(100):
            try:
                if hexed in open("/proc/%d/net/tcp" % self.process.pid).read():
                    return
            except FileNotFoundError:
                break
            time.sleep(0.05)
        raise RuntimeError("%s did not start on %s in %s (%d)" % (self.kind, self.address, host, pid))

    def pids(self):
        return self.rig.hosts.cgroups.pids("server")

    def workers(self):
        """Those that serve: of nginx, not its master."""
        return [p for p in self.pids() if self.kind != "nginx" or p != self.process.pid]

    def lines(self):
        out = {}
        for line in open(self.log):
            try:
                record = json.loads(line)
            except ValueError:
                continue
            out[record["path"]] = record
        return out

    def stop(self):
        pids = self.pids() if self.kind != "upstream" else [self.process.pid]
        for sig in (signal.SIGCONT, signal.SIGTERM if self.kind == "nginx" else signal.SIGKILL):
            for pid in pids:
                try:
                    os.kill(pid, sig)
                except ProcessLookupError:
                    pass
        self.process.wait()
        for _ in range(50):
            if self.kind == "upstream" or not self.pids():
                break
            time.sleep(0.05)


