# SPDX-License-Identifier: Apache-2.0
"""rig.py make|remove|scope - the hosts of the bench, before the stack starts and after it has ended."""
import sys

import hosts

STATE = "/run/seismo-fault.delayacct"  # how the machine was before


def main(what):
    h = hosts.Hosts()
    if what == "make":
        try:
            h.make()
        except Exception as e:
            print("Seismo: cannot make the hosts of the fault bench: %s" % e, file=sys.stderr)
            return 1
        with open(STATE, "w") as f:
            f.write(h.delayacct or "")
    elif what == "remove":
        import os
        if os.path.exists(STATE):
            h.delayacct = open(STATE).read().strip() or None
            os.unlink(STATE)
        h.remove()
    elif what == "scope":
        print(h.cgroups.scope())
    return 0


sys.exit(main(sys.argv[1]))
