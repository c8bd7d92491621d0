# SPDX-License-Identifier: Apache-2.0
"""services.py - what runs in the hosts of the fleet bench: nginx, applications, PostgreSQL, a probe for each host, and
clients. All ends with the bench: whoever is started here is in the cgroup of its host, or killed by its id."""
import os
import signal
import subprocess
import time

import fleethosts as fleet
import hosts

RATE = 8  # requests a second in each region
DISK_OF = {"eu-shop": "shared", "eu-stock": "shared", "us-stock": "own"}  # where their journals lie; others have none
PRICE = "create or replace function price(int) returns int language plpgsql as $$ begin %s return $1; end $$"

NGINX = """worker_processes 1; pid {d}/pid; error_log {d}/error.log warn; user root; daemon off;
events {{ worker_connections 500; }}
http {{
	client_body_temp_path {d}/t1; proxy_temp_path {d}/t2; fastcgi_temp_path {d}/t3; uwsgi_temp_path {d}/t4; scgi_temp_path {d}/t5;
	access_log off; keepalive_requests 100000000; proxy_http_version 1.1; proxy_set_header Connection "";
	upstream shop {{ server {shop}; keepalive 32; }}
	server {{ listen {web}; location / {{ proxy_pass http://shop; }} }}
}}
"""


def at(host, port):
    return "%s:%d" % (fleet.address(host), port)


class Disk:
    """A loop device over a file whose every access can be made to take longer."""

    def __init__(self, build, where):
        os.makedirs(where + "/on")
        self.on, self.file, backing = where + "/on", where + "/file", where + "/backing"
        with open(backing, "wb") as f:
            f.truncate(64 << 20)
        open(self.file, "wb").close()
        self.server = subprocess.Popen([build + "/fleet/disk", backing, self.file], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.server.stdout.readline() != "ready\n":
            raise OSError("a disk that grows slow on command cannot be made here (FUSE)")
        self.device = subprocess.run(["losetup", "-f", "--show", self.file], check=True, capture_output=True, text=True).stdout.strip()
        subprocess.run(["mkfs.ext4", "-q", "-O", "^has_journal", self.device], check=True)
        subprocess.run(["mount", self.device, self.on], check=True)

    def be(self, how):
        self.server.stdin.write(how + "\n")
        self.server.stdin.flush()

    def remove(self):
        try:
            self.be("0")
        except OSError:
            pass
        for command in (["umount", "-l", self.on], ["losetup", "-d", self.device]):
            subprocess.run(command, stderr=subprocess.DEVNULL)
        self.server.stdin.close()
        self.server.wait()


class Services:
    def __init__(self, build, where, log):
        self.build, self.where, self.log = build, where, log
        self.cgroups = fleet.Cgroups()
        self.disks, self.apps, self.others = {}, {}, []

    def within(self, host, command, **more):
        """A process in that host."""
        def enter():
            self.cgroups.join(host)
            hosts.enter(fleet.PREFIX + host)
        return subprocess.Popen(command, preexec_fn=enter, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, **more)

    def start(self):
        for name in sorted(set(DISK_OF.values())):
            self.disks[name] = Disk(self.build, "%s/disk-%s" % (self.where, name))
        for host in ("eu-db", "us-db", "ap-shop"):
            self.database(host)
        for region in fleet.REGIONS:
            if region == "ap":
                self.app("ap-shop", db="ap-shop")
            else:
                self.app(region + "-stock", db=region + "-db")
                self.app(region + "-shop", following=region + "-stock")
            self.nginx(region + "-web", region + "-shop")

    def as_postgres(self, command):
        return ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups"] + command

    def database(self, host):
        d = "%s/%s" % (self.where, host)
        subprocess.run(["install", "-d", "-o", "postgres", "-g", "postgres", "-m", "755", d, d + "/s"], check=True)
        pg = os.environ["PGBIN"]
        subprocess.run(self.as_postgres([pg + "/initdb", "-D", d + "/d", "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8", "--locale=C.UTF-8"]),
                       check=True, stdout=self.log, cwd="/")
        with open(d + "/d/pg_hba.conf", "a") as f:
            f.write("host all all %s0/24 trust\n" % fleet.NET)
        self.within(host, self.as_postgres([pg + "/postgres", "-D", d + "/d", "-c", "listen_addresses=" + fleet.address(host),
                    "-c", "unix_socket_directories=" + d + "/s", "-c", "shared_buffers=8MB", "-c", "fsync=off", "-c", "autovacuum=off"]), cwd="/")
        until = time.monotonic() + 60
        while not self.ask(host, "select 1"):
            if time.monotonic() > until:
                raise OSError("PostgreSQL of %s did not come up" % host)
            time.sleep(0.2)
        self.price(host, "")

    def ask(self, host, sql):
        return subprocess.run(["psql", "-h", "%s/%s/s" % (self.where, host), "-U", "postgres", "-XqAtc", sql],
                              stdout=self.log, stderr=self.log).returncode == 0

    def price(self, host, how):
        if not self.ask(host, PRICE % how):
            raise OSError("PostgreSQL of %s does not answer" % host)

    def app(self, host, db=None, following=None):
        command = [self.build + "/fleet/app", at(host, fleet.APP)]
        if db:
            command += ["--db", "host=%s port=%d user=postgres dbname=postgres" % (fleet.address(db), fleet.DB)]
        if following:
            command += ["--next", at(following, fleet.APP)]
        if host in DISK_OF:
            command += ["--journal", "%s/%s" % (self.disks[DISK_OF[host]].on, host)]
        self.apps[host] = self.within(host, command)

    def nginx(self, host, shop):
        d = "%s/%s" % (self.where, host)
        os.makedirs(d)
        with open(d + "/conf", "w") as f:
            f.write(NGINX.format(d=d, web=at(host, fleet.HTTP), shop=at(shop, fleet.APP)))
        self.within(host, ["nginx", "-c", d + "/conf", "-e", d + "/error.log"])

    def probe(self, host, port, key, token):
        d = "%s/probe-%s" % (self.where, host)
        os.makedirs(d)
        with open(d + "/log", "w") as log:
            self.others.append(subprocess.Popen(
                [self.build + "/seismo-probe", "--node", host, "--collector", "tcp://127.0.0.1:%s" % port, "--collector-key", key,
                 "--token", token, "--keys", d + "/keys", "--scope", "cgroup=" + self.cgroups.scope(host), "--profile", "0"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def clients(self, seconds):
        """One for each region, from the switch."""
        loads = {}
        for region in fleet.REGIONS:
            loads[region] = subprocess.Popen(
                [self.build + "/tools/load", at(region + "-web", fleet.HTTP), "--conns", "32", "--rate", str(RATE),
                 "--seconds", str(seconds), "--prefix", "/%s/" % region], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True,
                preexec_fn=lambda: hosts.enter(fleet.SWITCH))
        self.others += loads.values()
        return loads

    def well(self):
        """What of all that must run does not."""
        return [" ".join(map(str, p.args))[:60] for p in list(self.apps.values()) + self.others if p.poll() is not None]

    def stop(self):
        for p in self.others:
            if p.poll() is None:
                p.send_signal(signal.SIGTERM)
        for p in self.others:
            try:
                p.wait(20)
            except subprocess.TimeoutExpired:
                p.kill()
        for d in list(self.cgroups.dirs()):
            fleet.end_all(d)
        for disk in self.disks.values():
            disk.remove()
