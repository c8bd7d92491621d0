// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "probe/source/proc/proc_devices.h"
#include "tests/fake/proc_host.h"
#include "tests/lib/test.h"

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fabs(b);
}

#define NODE(h, id) (host_sample((h), &layout_node, "")[NODE_##id])
#define DISK(h, name, id) (host_sample((h), &layout_disk, (name))[DISK_##id])
#define NET(h, name, id) (host_sample((h), &layout_net, (name))[NET_##id])

TEST(the_first_tick_has_every_gauge_and_no_counter)
{
	const struct wire_dict *const all[] = { &layout_node, &layout_disk, &layout_net };
	const char *const entity[] = { "", "sda", "eth0" };
	struct host h;

	host_open(&h, DATA "/sys");
	CHECK_EQ(host_tick(&h), 0);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		for (uint32_t m = 0; m < all[i]->n; m++)
			CHECK_EQ(isnan(host_sample(&h, all[i], entity[i])[m]),
				 all[i]->metrics[m].kind == METRIC_COUNTER);
	host_close(&h);
}

TEST(the_gauges_of_the_node_are_those_of_its_files)
{
	struct host h;

	host_open(&h, DATA "/sys");
	host_tick(&h);
	CHECK_EQ(NODE(&h, CPUS), 2);
	CHECK_EQ(NODE(&h, BOOT_TIME), 1700000000);
	CHECK_EQ(NODE(&h, PROCS_RUNNING), 3);
	CHECK_EQ(NODE(&h, PROCS_BLOCKED), 2);
	CHECK(NODE(&h, LOAD1) == 0.5 && NODE(&h, LOAD5) == 1.25 && NODE(&h, LOAD15) == 2.75);
	CHECK_EQ(NODE(&h, MEM_TOTAL), 16384000ll * 1024);
	CHECK_EQ(NODE(&h, MEM_CACHED), 4096000ll * 1024);
	CHECK_EQ(NODE(&h, MEM_COMMITTED), 1000000ll * 1024);
	CHECK_EQ(NODE(&h, SWAP_FREE), 2097148ll * 1024);
	CHECK_EQ(NODE(&h, FILES_ALLOCATED), 521);
	CHECK_EQ(NODE(&h, FILES_MAXIMUM), 2466170);
	CHECK_EQ(NODE(&h, TCP_ESTABLISHED), 5);
	CHECK(NODE(&h, DENTRIES) == 297203 && NODE(&h, DENTRIES_UNUSED) == 295266);
	CHECK_EQ(NODE(&h, DISKS_CUT), 0);
	host_close(&h);
}

TEST(soft_interrupts_and_network_queues_are_summed_over_all_cpus)
{
	struct host h;

	host_open(&h, DATA "/sys");
	host_tick(&h);
	host_put(&h, "softirqs", " CPU0 CPU1\nNET_RX: 1100 2011\n TIMER: 526800 426537\nX: 1\n");
	host_put(&h, "net/softnet_stat",
		 "00000100 00000004 0000000B 0\n00001001 00000010 0000000a\n");
	host_tick(&h);
	CHECK_EQ(NODE(&h, SOFTIRQ_NET_RX), 111);
	CHECK_EQ(NODE(&h, SOFTIRQ_TIMER), 1);
	CHECK(isnan(NODE(&h, SOFTIRQ_RCU)));
	CHECK_EQ(NODE(&h, SOFTNET_PROCESSED), 2);
	CHECK_EQ(NODE(&h, SOFTNET_DROPPED), 18);
	CHECK_EQ(NODE(&h, SOFTNET_SQUEEZED), 10);
	host_put(&h, "net/softnet_stat", "00000100 xyz 0000000B\n");
	host_tick(&h);
	CHECK(isnan(NODE(&h, SOFTNET_DROPPED)));
	host_close(&h);
}

TEST(the_second_tick_has_the_counts_since_the_first)
{
	struct host h;

	host_open(&h, DATA "/sys");
	host_tick(&h);
	host_put(&h, "stat",
		 "cpu  103 20 301 4150 50 6 7 8 90 10\nctxt 777042\nintr 123457 1\n"
		 "processes 4322\n");
	host_put(&h, "vmstat", "pgmajfault 64\noom_kill 3\npgscan_direct 71\n");
	host_put(&h, "pressure/cpu",
		 "some avg10=0.00 total=5277615\nfull avg10=0.00 total=500000\n");
	host_put(&h, "net/snmp",
		 "Tcp: RetransSegs MaxConn OutSegs\nTcp: 20 -1 600\n"
		 "Udp: InErrors\nUdp: 7\n");
	host_put(&h, "net/netstat", "TcpExt: ListenDrops ListenOverflows\nTcpExt: 40 31\n");
	CHECK_EQ(host_tick(&h), 0);
	CHECK(near(NODE(&h, CPU_USER), 0.03) && near(NODE(&h, CPU_SYSTEM), 0.01));
	CHECK(near(NODE(&h, CPU_IDLE), 1.5) && NODE(&h, CPU_STEAL) == 0);
	CHECK_EQ(NODE(&h, CONTEXT_SWITCHES), 42);
	CHECK_EQ(NODE(&h, INTERRUPTS), 1);
	CHECK_EQ(NODE(&h, FORKS), 1);
	CHECK_EQ(NODE(&h, PGMAJFAULT), 4);
	CHECK_EQ(NODE(&h, OOM_KILL), 2);
	CHECK_EQ(NODE(&h, PGSCAN_DIRECT), 1);
	CHECK(near(NODE(&h, PSI_CPU_SOME), 1) && NODE(&h, PSI_CPU_FULL) == 0);
	CHECK_EQ(NODE(&h, TCP_RETRANS), 3);
	CHECK_EQ(NODE(&h, TCP_OUT_SEGS), 46);
	CHECK_EQ(NODE(&h, UDP_IN_ERRORS), 1);
	CHECK_EQ(NODE(&h, LISTEN_DROPS), 8);
	CHECK_EQ(NODE(&h, LISTEN_OVERFLOWS), 0);
	CHECK(isnan(NODE(&h, PGFAULT)) && isnan(NODE(&h, TCP_IN_SEGS))); /* the files are gone */
	host_close(&h);
}

TEST(disks_and_interfaces_are_counted_in_bytes_and_seconds)
{
	struct host h;

	host_open(&h, DATA "/sys");
	host_tick(&h);
	host_put(&h, "diskstats",
		 "8 0 sda 1001 102 2003 3004 505 56 4007 6008 9 7010 9011 12 2 83 44 10 66\n");
	host_put(&h, "net/dev", "eth0:48378128 1065 4 6 8 10 12 14 46934 571 18 20 22 24 26 28\n");
	host_tick(&h);
	CHECK(DISK(&h, "sda", READS) == 1 && DISK(&h, "sda", READS_MERGED) == 2);
	CHECK(DISK(&h, "sda", READ_BYTES) == 3 * 512 && near(DISK(&h, "sda", READ_TIME), 0.004));
	CHECK(DISK(&h, "sda", WRITES) == 5 && DISK(&h, "sda", WRITES_MERGED) == 6);
	CHECK(DISK(&h, "sda", WRITTEN_BYTES) == 7 * 512);
	CHECK(near(DISK(&h, "sda", WRITE_TIME), 0.008) && DISK(&h, "sda", IO_NOW) == 9);
	CHECK(near(DISK(&h, "sda", IO_TIME), 0.01));
	CHECK(near(DISK(&h, "sda", IO_TIME_WEIGHTED), 0.011));
	CHECK(DISK(&h, "sda", DISCARDS) == 2 && DISK(&h, "sda", DISCARDS_MERGED) == 1);
	CHECK(DISK(&h, "sda", DISCARDED_BYTES) == 3 * 512);
	CHECK(near(DISK(&h, "sda", DISCARD_TIME), 0.004) && DISK(&h, "sda", FLUSHES) == 5);
	CHECK(near(DISK(&h, "sda", FLUSH_TIME), 0.006));
	for (int i = 0; i < NET_TX_BYTES; i++)
		CHECK_EQ(host_sample(&h, &layout_net, "eth0")[i], i < 1 ? 1 : i + 1);
	for (int i = NET_TX_BYTES; i < NET_END; i++)
		CHECK_EQ(host_sample(&h, &layout_net, "eth0")[i], i + 1);
	host_close(&h);
}

TEST(only_whole_real_disks_are_reported)
{
	static const char *const sysfs[] = { DATA "/sys", "/nonexistent" };

	for (size_t i = 0; i < ARRAY_SIZE(sysfs); i++) {
		struct host h;

		host_open(&h, sysfs[i]);
		host_tick(&h);
		CHECK_EQ(host_entities(&h, &layout_disk), 4);
		CHECK(host_sample(&h, &layout_disk, "sda") &&
		      host_sample(&h, &layout_disk, "nvme0n1"));
		CHECK(host_sample(&h, &layout_disk, "dm-0") &&
		      host_sample(&h, &layout_disk, "cciss/c0d0"));
		host_close(&h);
	}
}

TEST(an_old_kernel_without_discards_has_them_unavailable)
{
	struct host h;

	host_open(&h, DATA "/sys");
	host_tick(&h);
	host_tick(&h);
	CHECK_EQ(DISK(&h, "nvme0n1", READS), 0);
	CHECK_EQ(DISK(&h, "nvme0n1", IO_TIME_WEIGHTED), 0);
	CHECK(isnan(DISK(&h, "nvme0n1", DISCARDS)) && isnan(DISK(&h, "nvme0n1", FLUSH_TIME)));
	host_close(&h);
}

TEST(inner_interfaces_are_reported_only_if_there_are_no_others)
{
	struct host h;

	host_open(&h, DATA "/sys");
	host_tick(&h);
	CHECK_EQ(host_entities(&h, &layout_net), 2);
	CHECK(host_sample(&h, &layout_net, "eth0") && host_sample(&h, &layout_net, "br-0"));
	host_put(&h, "net/dev",
		 "lo: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
		 "veth9: 2 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n");
	host_tick(&h);
	CHECK_EQ(host_entities(&h, &layout_net), 2);
	CHECK(host_sample(&h, &layout_net, "lo") && host_sample(&h, &layout_net, "veth9"));
	host_close(&h);
}

TEST(a_counter_that_went_back_is_unavailable_for_one_tick)
{
	struct host h;

	host_open(&h, DATA "/sys");
	host_tick(&h);
	host_put(&h, "vmstat", "pgmajfault 5\noom_kill 1\n");
	host_tick(&h);
	CHECK(isnan(NODE(&h, PGMAJFAULT)));
	CHECK_EQ(NODE(&h, OOM_KILL), 0);
	host_put(&h, "vmstat", "pgmajfault 7\noom_kill 1\n");
	host_tick(&h);
	CHECK_EQ(NODE(&h, PGMAJFAULT), 2);
	host_close(&h);
}

TEST(a_disk_that_comes_back_is_a_new_disk)
{
	struct host h;

	host_open(&h, DATA "/sys");
	host_tick(&h);
	host_put(&h, "diskstats", "8 0 sda 2000 0 0 0 0 0 0 0 0 0 0\n");
	host_tick(&h);
	CHECK_EQ(host_entities(&h, &layout_disk), 1);
	CHECK_EQ(DISK(&h, "sda", READS), 1000);
	host_put(&h, "diskstats", "");
	host_tick(&h);
	CHECK_EQ(host_entities(&h, &layout_disk), 0);
	host_put(&h, "diskstats", "8 0 sda 3000 0 0 0 0 0 0 0 0 0 0\n");
	host_tick(&h);
	CHECK(isnan(DISK(&h, "sda", READS)));
	CHECK_EQ(DISK(&h, "sda", IO_NOW), 0);
	host_close(&h);
}

TEST(a_kernel_without_pressure_has_it_unavailable)
{
	struct host h;

	host_open(&h, DATA "/sys");
	for (int i = 0; i < 2; i++) {
		host_take(&h, "pressure/cpu");
		host_take(&h, "pressure/memory");
		host_take(&h, "pressure/io");
		CHECK_EQ(host_tick(&h), 0);
		for (int m = NODE_PSI_CPU_SOME; m <= NODE_PSI_IO_FULL; m++)
			CHECK(isnan(host_sample(&h, &layout_node, "")[m]));
	}
	host_close(&h);
}

TEST(a_read_without_stat_is_an_error_and_sends_the_rest)
{
	struct host h;

	host_open(&h, DATA "/sys");
	host_take(&h, "stat");
	CHECK_EQ(host_tick(&h), -ENOENT);
	CHECK(NODE(&h, LOAD1) == 0.5);
	CHECK(isnan(NODE(&h, CPUS)));
	CHECK(host_sample(&h, &layout_disk, "sda") != NULL);
	host_close(&h);
}

TEST(devices_beyond_the_limit_are_counted_and_not_reported)
{
	struct host h;
	struct buf text = { 0 };
	char line[64];

	for (int i = 0; i < MAX_DEVICES + 7; i++) {
		snprintf(line, sizeof(line), "eth%d: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n", i);
		buf_put(&text, line, strlen(line));
	}
	host_open(&h, DATA "/sys");
	host_put_bytes(&h, "net/dev", text.data, text.len);
	host_tick(&h);
	CHECK_EQ(host_entities(&h, &layout_net), MAX_DEVICES);
	CHECK_EQ(NODE(&h, NETS_CUT), 7);
	host_restore(&h);
	host_tick(&h); /* frees the slots of removed devices */
	host_tick(&h);
	CHECK_EQ(NODE(&h, NETS_CUT), 0);
	CHECK_EQ(host_entities(&h, &layout_net), 2);
	buf_free(&text);
	host_close(&h);
}

TEST(a_duplicate_name_is_one_device)
{
	struct host h;

	host_open(&h, DATA "/sys");
	host_put(&h, "diskstats", "8 0 sda 5 0 0 0 0 0 0 0 0 0 0\n8 0 sda 9 0 0 0 0 0 0 0 0 0 0\n");
	host_tick(&h);
	CHECK_EQ(host_entities(&h, &layout_disk), 1);
	CHECK_EQ(NODE(&h, DISKS_CUT), 1);
	host_close(&h);
}
